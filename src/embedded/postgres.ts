import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeDirectory } from '../make-directory.ts'
import { prepareCluster } from './cluster.ts'
import { makeClusterPaths, type ClusterPaths } from './cluster-paths.ts'
import { lockDataDir } from './data-dir-lock.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { endLeftoverProcesses } from './leftover-processes.ts'
import { chooseServerAddress } from './server-address.ts'
import { createServerLauncher } from './server-launcher.ts'

export interface EmbeddedPostgresOptions {
  /** Berth's data folder; made if absent. The cluster lies in `postgres/` below it. */
  readonly dataDir: string
  /** Takes one line for each thing worth knowing. */
  readonly log: (line: string) => void
  /** Server settings on top of Berth's own, such as `{fsync: 'off'}` for tests. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface EmbeddedPostgres {
  /** Holds the password: not for logs. */
  readonly url: string
  /** Resolves when the server has ended, asked or not. */
  readonly ended: Promise<void>
  /** Fast shutdown: ends what clients are doing, keeps all that was committed. Safe to repeat. */
  stop(): Promise<void>
}

const START_MS = 60_000
const STOP_MS = 15_000

/**
 * A real PostgreSQL of our own under the data folder, reachable from this machine alone. What an earlier Berth that
 * died has left running is ended first; when this process dies, the server shuts itself down.
 * @throws {EmbeddedPostgresError}
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await makeDirectory(options.dataDir, 0o711)
  const lock = await lockDataDir(options.dataDir)
  try {
    const server = await startServer(options)
    void server.ended.then(() => lock.release())
    return server
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function startServer({ dataDir, log, settings = {} }: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const paths = await makeClusterPaths(dataDir)
  const launcher = await createServerLauncher(paths)
  const password = await prepareCluster(paths, launcher)
  await clearLeftovers(paths, log)
  const address = await chooseServerAddress(paths.socketDir)
  const flags = Object.entries({ ...address.settings, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const child = launcher.start('postgres', ['-D', paths.cluster, ...flags])
  await untilReady(child, paths)
  return { url: address.url('berth', password), ...ending(child) }
}

/** With no process of the cluster left, a pid file names a stranger at best, and would keep the server from starting. */
async function clearLeftovers({ cluster }: ClusterPaths, log: (line: string) => void): Promise<void> {
  const count = await endLeftoverProcesses(cluster)
  if (count > 0) log(`ended a PostgreSQL that an earlier Berth had left running on ${cluster}`)
  await rm(join(cluster, 'postmaster.pid'), { force: true })
}

/** The server itself says in the eighth line of its pid file when it takes connections; pg_ctl waits in the same way. */
async function untilReady(child: ChildProcess, { cluster, log }: ClusterPaths): Promise<void> {
  let failure: Error | null = null
  child.once('error', (error) => (failure = error))
  for (const deadline = Date.now() + START_MS; Date.now() < deadline; await sleep(10)) {
    if (failure !== null || child.exitCode !== null || child.signalCode !== null) break
    const lines = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
    if (lines.split('\n')[7]?.trim() === 'ready') return
  }
  child.kill('SIGKILL')
  const words = (await readFile(log, 'utf8').catch(() => '')).trim().split('\n').slice(-5).join('\n')
  throw new EmbeddedPostgresError('start_failed', `PostgreSQL did not start; the end of ${log}:\n${words}`, { cause: failure })
}

function ending(child: ChildProcess): Pick<EmbeddedPostgres, 'ended' | 'stop'> {
  const endWithProcess = (): void => void child.kill('SIGINT')
  process.once('exit', endWithProcess)
  const ended = once(child, 'exit').then(() => void process.off('exit', endWithProcess))
  const stop = async (): Promise<void> => {
    child.kill('SIGINT')
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await ended
    clearTimeout(force)
  }
  return { ended, stop }
}
