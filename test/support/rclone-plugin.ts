import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DockerWithPlugins } from './private-docker.ts'

/** An rclone volume plugin of one Docker daemon, with one remote `berth`. */
export interface TestPlugin {
  readonly driver: string
  /** Socket of its remote control. */
  readonly control: string
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>
  /** Begins again with the cache that it had. */
  start(): Promise<void>
  stop(): Promise<void>
}

export interface TestPluginOptions {
  /** Path of rclone: see `requireRclone`. */
  readonly program: string
  readonly docker: Pick<DockerWithPlugins, 'plugins' | 'pid'>
  readonly remote: { readonly endpoint: string; readonly accessKeyId: string; readonly secretAccessKey: string }
}

export async function startTestPlugin({ program, docker, remote }: TestPluginOptions): Promise<TestPlugin> {
  const folder = await mkdtemp(join(tmpdir(), 'berth-rclone-'))
  const driver = `berth-${randomBytes(4).toString('hex')}`
  const control = join(folder, 'control.sock')
  const socket = join(docker.plugins, `${driver}.sock`)
  const [base, cache] = [join(folder, 'base'), join(folder, 'cache')]
  await Promise.all([base, cache].map((directory) => mkdir(directory, { recursive: true })))
  let plugin: ChildProcess | null = null

  const start = async (): Promise<void> => {
    for (const left of [socket, control]) await rm(left, { force: true })
    const limits = ['--low-level-retries', '1', '--contimeout', '2s', '--timeout', '5s']
    const rc = ['--rc', '--rc-addr', `unix://${control}`, '--rc-no-auth']
    const serve = ['serve', 'docker', '--socket-addr', socket, '--base-dir', base, '--cache-dir', cache, ...rc, ...limits]
    plugin = spawn('nsenter', ['--mount', '--target', String(docker.pid), program, ...serve], {
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        RCLONE_CONFIG: join(folder, 'none.conf'),
        RCLONE_CONFIG_BERTH_TYPE: 's3',
        RCLONE_CONFIG_BERTH_PROVIDER: 'Other',
        RCLONE_CONFIG_BERTH_ENDPOINT: remote.endpoint,
        RCLONE_CONFIG_BERTH_ACCESS_KEY_ID: remote.accessKeyId,
        RCLONE_CONFIG_BERTH_SECRET_ACCESS_KEY: remote.secretAccessKey,
      },
    })
    for (let tries = 0; tries < 200 && !(existsSync(socket) && existsSync(control)); tries += 1) await sleep(50)
  }
  const kill = async (): Promise<void> => {
    if (plugin === null || plugin.exitCode !== null || plugin.signalCode !== null) return
    const ended = once(plugin, 'exit')
    plugin.kill('SIGKILL')
    await ended
  }
  await start()
  return {
    driver,
    control,
    kill,
    start,
    async stop() {
      await kill()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
