import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'

/** A real S3 server over a folder of its own, with one bucket `bucket`. */
export interface TestS3 {
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  stop(): Promise<void>
}

const KEYS = { accessKeyId: 'test-access', secretAccessKey: 'test-secret-word' }

/** versitygw. @param program its path: see `requireS3Server` */
export const startTestS3 = (program: string): Promise<TestS3> => startServer(program, versitygw)

/** MinIO, which is nearer to S3 in what keys may be. @param program its path: see `requireMinio` */
export const startTestMinio = (program: string): Promise<TestS3> => startServer(program, minio)

interface Command {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const versitygw = (address: string, data: string): Command => ({
  args: ['--port', address, 'posix', data],
  env: { ROOT_ACCESS_KEY: KEYS.accessKeyId, ROOT_SECRET_KEY: KEYS.secretAccessKey },
})

const minio = (address: string, data: string): Command => ({
  args: ['server', '--quiet', '--address', address, '--console-address', '127.0.0.1:0', data],
  env: { MINIO_ROOT_USER: KEYS.accessKeyId, MINIO_ROOT_PASSWORD: KEYS.secretAccessKey, MINIO_CI_CD: 'on', HOME: data },
})

async function startServer(program: string, command: (address: string, data: string) => Command): Promise<TestS3> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-s3-'))
  await mkdir(join(folder, 'data', 'bucket'), { recursive: true })
  const port = await freePort()
  const { args, env } = command(`127.0.0.1:${port}`, join(folder, 'data'))
  const server = spawn(program, args, { env: { PATH: process.env['PATH'], ...env }, stdio: 'ignore' })
  const endpoint = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 100 && server.exitCode === null; tries += 1) {
    if (await isReady(endpoint)) break
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

/** Refuses a stranger, and says no more that it is still starting. */
const isReady = (endpoint: string): Promise<boolean> =>
  fetch(`${endpoint}/bucket`).then(
    ({ status }) => status < 500,
    () => false,
  )
