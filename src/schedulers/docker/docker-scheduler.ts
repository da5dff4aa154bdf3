import { OBJECT_KINDS } from '../../domain/drives/drive.ts'
import type { AttemptHandle, LogChunk, LogOptions, ObservationBatch } from '../../domain/attempt.ts'
import type { BindRoot, Capabilities, RcloneRemote } from '../../domain/capabilities.ts'
import type { CollectedFile, FlushContext, MountPlace, Scheduler, SubmitContext } from '../scheduler.ts'
import { cancelAttempt } from './cancel-attempt.ts'
import { collectFiles } from './staging/collect-files.ts'
import { readContainerLogs } from './container-logs.ts'
import type { DockerRequest } from './docker-request.ts'
import { Engine } from './engine.ts'
import { toSchedulerError } from './errors.ts'
import { flushBuckets } from './rclone/flush-buckets.ts'
import { observeContainers } from './observer.ts'
import type { Registries } from './pull-image.ts'
import { RcloneControl } from './rclone/rclone-control.ts'
import { removeAttempt } from './remove-attempt.ts'
import { renderAttempt } from './render.ts'
import { submitAttempt } from './submit-attempt.ts'

export interface DockerSchedulerOptions {
  /** Short id of this Berth installation. */
  readonly installation: string
  /** `unix:///path/of/socket`, or `tcp://` on loopback. */
  readonly host: string
  readonly bindRoots: readonly BindRoot[]
  readonly devices: readonly string[]
  readonly registries: Registries
  /** Where managed drives are on the daemon's machine; null where they are not. */
  readonly driveRoot: string | null
  /** Where containers reach Berth's API; null if they do not. */
  readonly apiUrl: string | null
  /** Most mounts of one role. */
  readonly maxMounts: number
  /** An rclone volume plugin of the daemon: its name, the socket of its remote control, and what it reaches. */
  readonly rclone: { readonly driver: string; readonly control: string; readonly remotes: readonly RcloneRemote[] } | null
  readonly maxStageBytes: number | null
  /** Most that copies kept for later jobs may take. */
  readonly stageCacheBytes: number
}

/**
 * Runs attempts as containers of one Docker daemon (Engine API 1.41 and later).
 * @throws Error for a host that is neither a socket nor on loopback
 */
export function createDockerScheduler(options: DockerSchedulerOptions): Scheduler<DockerRequest> {
  const { installation, host, registries, driveRoot, maxStageBytes, stageCacheBytes } = options
  const engine = new Engine(host)
  const rclone = options.rclone === null ? null : { driver: options.rclone.driver, control: new RcloneControl(options.rclone.control) }
  const guard = <T>(work: Promise<T>): Promise<T> => work.catch((error: unknown) => Promise.reject(toSchedulerError(error, host)))
  const inTurn = serialize()
  return {
    kind: 'docker',
    startsAtSubmit: true,
    capabilities: capabilitiesOf(options),
    render: (spec) => renderAttempt(spec, { driveRoot, rcloneDriver: rclone?.driver ?? null }),
    submit: (native: DockerRequest, context: SubmitContext) =>
      guard(
        inTurn(native.attemptId, () => {
          const figures = { bytes: 0, files: 0, totalBytes: 0 }
          return submitAttempt({ engine, native, context, registries, rclone, maxStageBytes, stageCacheBytes, figures })
        }),
      ),
    observe: (signal: AbortSignal): AsyncIterable<ObservationBatch> =>
      guardEach(observeContainers(engine, installation, signal), host, signal),
    logs: ({ attemptId }: AttemptHandle, logOptions: LogOptions, signal: AbortSignal): AsyncIterable<LogChunk> =>
      guardEach(readContainerLogs({ engine, installation, attemptId, options: logOptions }, signal), host, signal),
    collect: ({ attemptId }: AttemptHandle, place: MountPlace, signal: AbortSignal): AsyncIterable<CollectedFile> =>
      guardEach(collectFiles({ engine, installation, attemptId, place }, signal), host, signal),
    cancel: (handle: AttemptHandle, signal: AbortSignal) => guard(cancelAttempt(engine, { ...handle, installation }, signal)),
    flush: ({ attemptId }: AttemptHandle, context: FlushContext) =>
      guard(rclone === null ? Promise.resolve() : flushBuckets({ engine, installation, attemptId }, rclone, context)),
    remove: ({ attemptId }: AttemptHandle, signal: AbortSignal) => guard(removeAttempt(engine, { attemptId, installation }, signal)),
    health: (signal: AbortSignal) => guard(describeDaemon(engine, signal)),
  }
}

const MOUNT_VIA = ['named_volume', 'host_path', 'device', 'tmpfs', 'drive_directory', 'staged', 'scratch', 'nfs', 'reference'] as const

const capabilitiesOf = (options: DockerSchedulerOptions): Capabilities => ({
  mountVia: options.rclone === null ? MOUNT_VIA : [...MOUNT_VIA, 'rclone_volume'],
  stages: OBJECT_KINDS,
  maxStageBytes: options.maxStageBytes,
  driveDirectories: options.driveRoot !== null,
  apiUrl: options.apiUrl,
  maxMounts: options.maxMounts,
  csiDrivers: [],
  hostMounts: [],
  rcloneRemotes: options.rclone?.remotes ?? [],
  bindRoots: options.bindRoots,
  devices: options.devices,
  image: 'required',
  entrypoint: true,
  user: true,
  mountPaths: 'exact',
  limits: ['cpus', 'memoryMiB', 'shmMiB', 'gpus', 'pids'],
  replicaHostNames: true,
  // One bridge takes about a thousand; one daemon starts about two a second.
  maxReplicas: 100,
})

async function describeDaemon(engine: Engine, signal: AbortSignal): Promise<string> {
  const { Version, ApiVersion } = await engine.call<{ Version: string; ApiVersion: string }>({
    method: 'GET',
    path: '/version',
    signal,
    deadlineMs: 5_000,
  })
  return `Docker ${Version} (API ${ApiVersion}) at ${engine.host}`
}

/** Two submits of one claim are told apart by nothing, so they come one after the other. */
function serialize(): (key: string, work: () => Promise<void>) => Promise<void> {
  const last = new Map<string, Promise<void>>()
  return (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).catch(() => {}).then(work)
    last.set(key, turn)
    const forget = (): void => {
      if (last.get(key) === turn) last.delete(key)
    }
    void turn.then(forget, forget)
    return turn
  }
}

/** An abort ends it without an error. */
async function* guardEach<T>(source: AsyncIterable<T>, host: string, signal: AbortSignal): AsyncGenerator<T> {
  try {
    yield* source
  } catch (error) {
    if (!signal.aborted) throw toSchedulerError(error, host)
  }
}
