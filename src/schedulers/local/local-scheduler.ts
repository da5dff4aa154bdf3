import { OBJECT_KINDS } from '../../domain/drives/drive.ts'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { makeDirectory } from '../../make-directory.ts'
import type { BindRoot, Capabilities } from '../../domain/capabilities.ts'
import { slug } from '../../domain/names.ts'
import { SchedulerError } from '../scheduler.ts'
import type { CollectedFile, MountPlace, Scheduler } from '../scheduler.ts'
import { cancelAttempt } from './cancel-attempt.ts'
import { detectCgroups } from './cgroups.ts'
import type { Cgroups } from './cgroups.ts'
import { detectIsolation } from './detect-isolation.ts'
import { toSchedulerError } from './errors.ts'
import { collectFiles } from './collect-files.ts'
import { ownMountFolder } from './mounts.ts'
import { attemptFolder, attemptsFolder, bellsFolder, cacheFolder, tombstonesFolder, trashFolder, volumesFolder } from './folders.ts'
import type { Isolation } from './local-place.ts'
import { observeAttempts } from './observer.ts'
import { readLogs } from './read-logs.ts'
import { removeAttempt } from './remove-attempt.ts'
import { render } from './render.ts'
import type { LocalRequest } from './render.ts'
import { submitAttempt } from './submit-attempt.ts'

export { detectIsolation }

export interface LocalSchedulerOptions {
  readonly installation: string
  /** Folder of this scheduler alone, on a file system of this machine. */
  readonly root: string
  /** As `detectIsolation` found it. */
  readonly isolation: Isolation
  readonly bindRoots: readonly BindRoot[]
  /** Where managed drives are; null where they are not on this machine. */
  readonly driveRoot: string | null
  /** Where processes of this machine reach Berth's API; null if they do not. */
  readonly apiUrl: string | null
  /** Most mounts of one role. */
  readonly maxMounts: number
  readonly maxStageBytes: number | null
  /** Most that copies kept for later jobs may take. */
  readonly stageCacheBytes: number
  /** Name of this machine, for people. */
  readonly node: string
  /** Folders that jobs in a sandbox must not see; at least `root`, which is always hidden. */
  readonly hidden?: readonly string[]
}

/**
 * Runs each replica as a process of this machine, under a supervisor that belongs to no worker. All it knows is in
 * files below `root`; workers of one root must share its machine and its process table.
 */
export function createLocalScheduler(options: LocalSchedulerOptions): Scheduler<LocalRequest> {
  const { root, isolation, driveRoot } = options
  const cgroups = detectCgroups(options.installation)
  const cache = { directory: cacheFolder(root), maxBytes: options.stageCacheBytes }
  const place = { ...options, cgroups, cache, hidden: [...new Set([root, ...(options.hidden ?? [])])] }
  const ready = (): Promise<void> => guarded('making the data folder of the local scheduler', () => makeFolders(root, isolation))
  return {
    kind: 'local',
    startsAtSubmit: false,
    capabilities: capabilitiesOf(options, cgroups),
    render: (spec) => render(spec, { root, isolation, driveRoot }),
    submit: async (native, context) => {
      await ready()
      await guarded(`starting ${native.attemptId}`, () => submitAttempt(native, place, context))
    },
    observe: async function* (signal) {
      await ready()
      yield* explained('looking at the attempts', observeAttempts(place, signal))
    },
    logs: ({ attemptId }, wanted, signal) =>
      explained(
        `reading the output of ${wanted.role}/${wanted.index}`,
        readLogs(join(attemptFolder(root, attemptId), `${slug(wanted.role, 100)}-${wanted.index}`), wanted, signal),
      ),
    // No mount here writes behind.
    flush: async () => undefined,
    collect: ({ attemptId }, mount, signal) => collect(attemptFolder(root, attemptId), mount, signal),
    cancel: async (handle, signal) => {
      await ready()
      await guarded(`ending ${handle.attemptId}`, () => cancelAttempt(place, handle, signal))
    },
    remove: async ({ attemptId }, signal) => {
      await ready()
      return guarded(`removing ${attemptId}`, () => removeAttempt(place, attemptId, signal))
    },
    health: () => guarded('looking at the local scheduler', () => describeHealth(options, cgroups)),
  }
}

const collect = (attempt: string, { role, index, path }: MountPlace, signal: AbortSignal): AsyncIterable<CollectedFile> => {
  const folder = ownMountFolder(join(attempt, `${slug(role, 100)}-${index}`), path)
  return explained(`reading the files of ${role}/${index}`, collectFiles({ directory: folder, path }, signal))
}

async function* explained<T>(doing: string, source: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* source
  } catch (error) {
    throw toSchedulerError(error, doing)
  }
}

const MAX_REPLICAS = 100
const LINKABLE = ['named_volume', 'host_path', 'drive_directory', 'staged', 'scratch', 'reference'] as const

function capabilitiesOf(options: LocalSchedulerOptions, { limits }: Cgroups): Capabilities {
  const { isolation, bindRoots, driveRoot, apiUrl, maxMounts, maxStageBytes } = options
  const sandboxed = isolation === 'bubblewrap'
  return {
    mountVia: sandboxed ? [...LINKABLE, 'tmpfs'] : LINKABLE,
    stages: OBJECT_KINDS,
    maxStageBytes,
    driveDirectories: driveRoot !== null,
    apiUrl,
    maxMounts,
    csiDrivers: [],
    hostMounts: [],
    rcloneRemotes: [],
    bindRoots,
    devices: [],
    image: 'unsupported',
    entrypoint: true,
    user: process.getuid?.() === 0,
    mountPaths: sandboxed ? 'exact' : 'linked',
    limits: sandboxed ? [...limits, 'shmMiB'] : limits,
    replicaHostNames: false,
    maxReplicas: MAX_REPLICAS,
  }
}

async function describeHealth({ node, isolation, root }: LocalSchedulerOptions, { limits }: Cgroups): Promise<string> {
  await makeFolders(root, isolation)
  if (isolation === 'bubblewrap' && (await detectIsolation()) !== 'bubblewrap') {
    throw new SchedulerError('unavailable', 'bubblewrap no longer works here: install it again, or restart the worker to go on without it')
  }
  if (isolation === 'links') await promisify(execFile)('setpriv', SETPRIV_PROBE).catch(refuseOldSetpriv)
  const separation = isolation === 'links' ? 'no sandbox (bubblewrap is missing or may not be used)' : 'bubblewrap'
  return `${node}: ${separation}, ${limits.length === 0 ? 'no limits of processor or memory' : `limits ${limits.join(', ')}`}`
}

const SETPRIV_PROBE = ['--pdeathsig', 'KILL', '--no-new-privs', 'true']

function refuseOldSetpriv(cause: unknown): never {
  throw new SchedulerError('unavailable', 'setpriv with --pdeathsig is missing on this machine: install util-linux, or bubblewrap', {
    cause,
  })
}

/** Only the worker looks into it; a job without a sandbox that changes its user must pass through. */
async function makeFolders(root: string, isolation: Isolation): Promise<void> {
  const mode = isolation === 'links' ? 0o711 : 0o700
  for (const folder of [root, attemptsFolder(root), volumesFolder(root), bellsFolder(root), tombstonesFolder(root), trashFolder(root)]) {
    await makeDirectory(folder, mode)
  }
}

async function guarded<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toSchedulerError(error, doing)
  }
}
