import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
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
  /** Folder of its images, containers and logs. */
  readonly data: string
  /** File of what it says, over all its lives. */
  readonly log: string
  /** Ends the daemon, by SIGKILL if not said otherwise; what runs in its containers may go on. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Starts it again, on the same folder and socket. */
  start(): Promise<void>
  stop(): Promise<void>
}

export interface PrivateDockerOptions {
  /** Further flags of the daemon. */
  readonly flags?: readonly string[]
  /** Size of a disk that holds nothing but its images, containers and logs; else they are where the machine's are. */
  readonly diskMiB?: number
}

export async function startPrivateDocker({ flags = [], diskMiB }: PrivateDockerOptions = {}): Promise<PrivateDocker> {
  const dir = await mkdtemp(join(tmpdir(), 'berth-dockerd-'))
  await writeFile(join(dir, 'flags'), `${flags.join(' ')}\n`)
  if (diskMiB !== undefined) await mountDisk(join(dir, 'data'), diskMiB)
  return startIn(dir)
}

/** A file system of its own in a file. The kernel lets go of its device when it is unmounted. */
export async function mountDisk(folder: string, mebibytes: number): Promise<void> {
  const image = `${folder}.img`
  await mkdir(folder)
  await run('truncate', ['-s', `${mebibytes}M`, image])
  await run('mkfs.ext4', ['-q', '-m', '0', image])
  await run('mount', ['-o', 'loop', image, folder])
}

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
    data: join(dir, 'data'),
    log: join(dir, 'dockerd.log'),
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
