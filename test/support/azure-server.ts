import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ContainerClient, StorageSharedKeyCredential } from '@azure/storage-blob'
import { freePort } from './free-port.ts'

/** Azurite, Microsoft's emulator of Azure Blob Storage, over a folder of its own, with one container `bucket`. */
export interface TestAzure {
  readonly endpoint: string
  readonly account: string
  readonly accountKey: string
  stop(): Promise<void>
}

const ACCOUNT = 'testaccount'
const KEY = Buffer.from('a key that opens nothing but tests').toString('base64')

/** @param program path of azurite's script: see `requireAzurite` */
export async function startTestAzure(program: string): Promise<TestAzure> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-azure-'))
  const port = await freePort()
  const server = spawn(
    process.execPath,
    [
      program,
      '--blobHost',
      '127.0.0.1',
      '--blobPort',
      String(port),
      '--location',
      folder,
      '--silent',
      '--disableTelemetry',
      '--skipApiVersionCheck',
    ],
    { env: { PATH: process.env['PATH'], AZURITE_ACCOUNTS: `${ACCOUNT}:${KEY}` }, stdio: 'ignore' },
  )
  const endpoint = `http://127.0.0.1:${port}/${ACCOUNT}`
  for (let tries = 0; tries < 200 && server.exitCode === null; tries += 1) {
    if (
      await fetch(endpoint).then(
        () => true,
        () => false,
      )
    )
      break
    await sleep(50)
  }
  await new ContainerClient(`${endpoint}/bucket`, new StorageSharedKeyCredential(ACCOUNT, KEY)).create()
  return {
    endpoint,
    account: ACCOUNT,
    accountKey: KEY,
    async stop() {
      const ended = server.exitCode === null ? once(server, 'exit') : null
      server.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}
