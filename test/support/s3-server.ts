import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'

/** A real S3 server (versitygw) over a folder of its own, with one bucket `bucket`. */
export interface TestS3 {
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  stop(): Promise<void>
}

const KEYS = { accessKeyId: 'test-access', secretAccessKey: 'test-secret-word' }

/** @param program path of versitygw: see `requireS3Server` */
export async function startTestS3(program: string): Promise<TestS3> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-s3-'))
  await mkdir(join(folder, 'data', 'bucket'), { recursive: true })
  const port = await freePort()
  const server = spawn(program, ['--port', `127.0.0.1:${port}`, 'posix', join(folder, 'data')], {
    env: { PATH: process.env['PATH'], ROOT_ACCESS_KEY: KEYS.accessKeyId, ROOT_SECRET_KEY: KEYS.secretAccessKey },
    stdio: 'ignore',
  })
  const endpoint = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 100 && server.exitCode === null; tries += 1) {
    if (await fetch(endpoint).then(() => true, () => false)) break
    await sleep(50)
  }
  return {
    endpoint,
    ...KEYS,
    async stop() {
      const ended = server.exitCode === null ? once(server, 'exit') : null
      server.kill('SIGTERM')
      await ended
      if (existsSync(folder)) await rm(folder, { recursive: true, force: true })
    },
  }
}
