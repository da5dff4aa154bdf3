import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile } from 'node:fs/promises'
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

export const startPrivateDocker = async (): Promise<PrivateDocker> => startIn(await mkdtemp(join(tmpdir(), 'berth-dockerd-')))

/** A daemon that takes volume plugins from a folder of its own, so that no other one meets them. */
export interface DockerWithPlugins extends PrivateDocker {
  readonly plugins: string
  /** Its process, whose mount namespace a plugin must mount in. */
  readonly pid: number
}

export async function startDockerWithPlugins(): Promise<DockerWithPlugins> {
  const dir = await mkdtemp(join(tmpdir(), 'berth-dockerd-'))
  const plugins = join(dir, 'plugins')
  await mkdir(plugins)
  const docker = await startIn(dir)
  return { ...docker, plugins, pid: Number(await readFile(join(dir, 'pid'), 'utf8')) }
}

async function startIn(dir: string): Promise<PrivateDocker> {
  const host = (await run(SCRIPT, ['start', dir])).stdout.trim()
  return {
    host,
    async kill(signal = 'SIGKILL') {
      const pid = Number(await readFile(join(dir, 'pid'), 'utf8'))
      process.kill(pid, signal)
      await eventually(
        () => isAlive(pid),
        (alive) => !alive,
      )
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
