import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BindRoot } from '../../domain/capabilities.ts'
import { SchedulerError } from '../scheduler.ts'
import { openBindSource } from './bind-source.ts'
import type { ReplicaCgroups } from './cgroups.ts'
import { REPLICA_FILES, bellFile, tombstoneFile } from './folders.ts'
import { thisMachine } from './machine-view.ts'
import { exists, readStart } from './replica-facts.ts'
import type { LocalReplica, LocalRequest } from './render.ts'
import { sandboxArguments } from './sandbox.ts'
import type { Placement, SandboxPlan } from './sandbox.ts'

/** What of the scheduler's own settings a start needs. */
export interface StartPlace {
  readonly root: string
  readonly bindRoots: readonly BindRoot[]
  readonly hidden: readonly string[]
}

export interface PreparedReplica {
  readonly replica: LocalReplica
  readonly cgroups: ReplicaCgroups
}

/**
 * Starts the supervisor of a prepared replica and returns when the start is taken, by it or by another one before.
 * Throws `rejected` if a bind cannot be made, `conflict` if the replica was removed meanwhile, `unavailable` otherwise.
 */
export async function startReplica(request: LocalRequest, { replica, cgroups }: PreparedReplica, place: StartPlace): Promise<void> {
  const folder = join(place.root, replica.directory)
  const descriptors: number[] = []
  try {
    const launcher = request.isolation === 'links'
      ? LINKED_LAUNCHER
      : ['bwrap', ...sandboxArguments(sandboxPlan(replica, { ...place, folder, descriptors }), thisMachine), '--', 'sh']
    const files = [tombstoneFile(place.root, request.attemptId), bellFile(place.root, request.attemptId)]
    await supervise([...files, cgroups.folders.join(':'), cgroups.oomFacts, ...launcher], folder, descriptors)
  } catch (error) {
    if (await exists(folder)) throw error
    throw new SchedulerError('conflict', `${replica.role}/${replica.index} was removed before it started`, { cause: error })
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor)
  }
  await unlink(join(folder, REPLICA_FILES.launch)).catch(() => {})
  if (await readStart(folder) !== null) return
  throw new SchedulerError('unavailable', `the supervisor of ${replica.role}/${replica.index} did not start`)
}

const SUPERVISOR = fileURLToPath(new URL('./supervise.sh', import.meta.url))
const SUPERVISOR_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** The supervisor's own descriptors are below; supervise.sh uses 3. */
const FIRST_FREE_DESCRIPTOR = 4

/** In a session of its own, without anything of ours: it outlives this process. Resolves when it has let go of its output. */
function supervise(parameters: readonly string[], cwd: string, descriptors: readonly number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', [SUPERVISOR, ...parameters], {
      cwd, env: { PATH: SUPERVISOR_PATH }, detached: true, stdio: ['ignore', 'pipe', 'ignore', 'ignore', ...descriptors],
    })
    child.unref()
    child.once('error', reject)
    child.stdout?.once('close', resolve).resume()
  })
}

interface SandboxPlace extends StartPlace {
  readonly folder: string
  /** Filled with what was opened; to be closed by the caller. */
  readonly descriptors: number[]
}

function sandboxPlan(replica: LocalReplica, place: SandboxPlace): SandboxPlan {
  const { workDirectory, workingDir, limits, user } = replica
  const work = { folder: join(place.folder, 'work') }
  const mounts = replica.mounts.map((mount): Placement => {
    const { path, readOnly } = mount
    switch (mount.kind) {
      case 'volume': return { path, readOnly, source: { folder: mount.source } }
      case 'own': return { path, readOnly, source: { folder: mount.source } }
      case 'tmpfs': return { path, readOnly, source: { tmpfsMiB: mount.sizeMiB } }
      case 'bind':
      case 'drive': {
        const roots = mount.kind === 'drive' ? [{ root: mount.root, readOnly: false }] : place.bindRoots
        const descriptor = openBindSource(mount.source, readOnly ? 'ro' : 'rw', roots)
        place.descriptors.push(descriptor)
        return { path, readOnly, source: { descriptor: FIRST_FREE_DESCRIPTOR + place.descriptors.length - 1 } }
      }
    }
  })
  return {
    hidden: place.hidden,
    switchesUser: user !== null,
    placements: [
      { path: '/tmp', source: { folder: join(place.folder, 'tmp') }, readOnly: false },
      { path: workDirectory, source: work, readOnly: false },
      ...(limits.shmMiB === null ? [] : [{ path: '/dev/shm', source: { tmpfsMiB: limits.shmMiB }, readOnly: false }]),
      ...mounts,
    ],
    workingDir: workingDir === null ? null : { path: workingDir, source: work, readOnly: false },
  }
}

/** In its own session, so that all of it can be told from its supervisor; it does not outlive that. */
const LINKED_LAUNCHER = ['setsid', 'setpriv', '--pdeathsig', 'KILL', '--no-new-privs', 'sh']
