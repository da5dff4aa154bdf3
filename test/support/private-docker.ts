import { execFile } from 'node:child_process'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { eventually } from './eventually.ts'

const SCRIPT = fileURLToPath(new URL('../../script/private-docker', import.meta.url))
const run = promisify(execFile)

/** A Docker daemon for one test file to kill, with the image `busybox`. Needs root. */
export interface PrivateDocker {
  readonly host: string
  /** Ends the daemon, by SIGKILL if not said otherwise; what runs in its containers may go on. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Starts it again, on the same folder and socket. */
  start(): Promise<void>
  stop(): Promise<void>
}

export async function startPrivateDocker(): Promise<PrivateDocker> {
  const dir = await mkdtemp(join(tmpdir(), 'berth-dockerd-'))
  const host = (await run(SCRIPT, ['start', dir])).stdout.trim()
  return {
    host,
    async kill(signal = 'SIGKILL') {
      const pid = Number(await readFile(join(dir, 'pid'), 'utf8'))
      process.kill(pid, signal)
      await eventually(() => isAlive(pid), (alive) => !alive)
      await sleep(100)
    },
    start: async () => void (await run(SCRIPT, ['restart', dir])),
    stop: async () => void (await run(SCRIPT, ['stop', dir])),
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
