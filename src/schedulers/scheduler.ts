import type { Readable } from 'node:stream'
import type { AttemptHandle, AttemptSpec, LogChunk, LogOptions, ObservationBatch } from '../domain/attempt.ts'
import type { Capabilities } from '../domain/capabilities.ts'
import type { FailureReason } from '../domain/failure-reason.ts'
import type { SchedulerKind } from '../domain/scheduler-kind.ts'

/**
 * A configured place that runs attempts.
 *
 * The service promises at most one native object for each attempt and replica. An implementation keeps that
 * promise by names and labels: they carry installation, attempt, role, replica and epoch, so that whatever
 * exists can be found, adopted and fenced without any memory of ours.
 *
 * Every method but `render` throws `SchedulerError` and nothing else. An error of a mutating call means
 * *unknown*: the caller calls again, and the implementation looks before it acts.
 */
export interface Scheduler<Native = unknown> {
  readonly kind: SchedulerKind
  readonly capabilities: Capabilities
  /** Whether all has begun to run when `submit` returns, so that what is pending later has been forgotten, and may have run. */
  readonly startsAtSubmit: boolean

  /** Pure, and total for every spec that passes admission; returns plain JSON. Holds no secret. */
  render(spec: AttemptSpec): Native

  /**
   * Makes and starts what `render` gave; safe to repeat, and to call with a higher epoch after another worker
   * died half-way: what exists is adopted (after the old epoch's name is taken away from it), what is missing
   * is made, what was started is never started again.
   */
  submit(native: Native, context: SubmitContext): Promise<void>

  /**
   * Everything of this installation: first a complete batch, then changes as they come and a complete batch
   * at least every 15 s. Never ends by itself; throws `unavailable` when the scheduler is away.
   * What cannot be observed is left out or `lost`, never a success.
   */
  observe(signal: AbortSignal): AsyncIterable<ObservationBatch>

  /** Output of one replica, byte-exact, in the order of writing within each stream. Nothing if it is gone. */
  logs(handle: AttemptHandle, options: LogOptions, signal: AbortSignal): AsyncIterable<LogChunk>

  /** Asks every replica to end (SIGTERM, grace, SIGKILL) and returns when none runs. Unknown handles are fine. */
  cancel(handle: AttemptHandle, signal: AbortSignal): Promise<void>

  /**
   * The files below a staged mount of one replica, in any order; each body must be read to its end, or destroyed, before
   * the next is asked for. Symbolic links are followed only if asked to, devices are `skipped`. The replica may run or have ended.
   * @throws SchedulerError `not_found` when the replica is gone
   */
  collect(handle: AttemptHandle, place: MountPlace, signal: AbortSignal): AsyncIterable<CollectedFile>

  /**
   * Proves that what ended replicas have written into live mounts is where it belongs. Asked before a success is told, and
   * only for attempts with such a mount that writes behind.
   * @throws SchedulerError `rejected` with `mount_lost` when it is lost, or nobody can tell
   */
  flush(handle: AttemptHandle, context: FlushContext): Promise<void>

  /**
   * Deletes what `submit` made, but never anything that still runs. Unknown handles are fine.
   * @returns whether nothing is left
   */
  remove(handle: AttemptHandle, signal: AbortSignal): Promise<boolean>

  /** Throws `unavailable` with what to do about it; otherwise a line for people (version, node). */
  health(signal: AbortSignal): Promise<string>
}

export interface SubmitContext {
  /** Aborted when the claim is no longer ours: stop before the next native call. */
  readonly signal: AbortSignal
  /** Tells what the attempt waits for; at most once a second reaches the job's events. */
  readonly progress: (progress: SubmitProgress) => void
  readonly staging: Staging
}

export interface SubmitProgress {
  /** A reason of the state `starting`, such as `image_pull`. */
  readonly reason: 'image_pull' | 'volume' | 'capacity' | 'staging'
  /** For people, such as `busybox: 12 of 40 MiB`. */
  readonly detail: string
  readonly figures?: StagingFigures
}

/** How far the staging of all mounts is. */
export interface StagingFigures {
  readonly bytes: number
  readonly files: number
  readonly totalBytes: number
}

export interface FlushContext {
  readonly signal: AbortSignal
  /** What is still on its way. */
  readonly progress: (figures: StagingFigures) => void
}

/** One mount of one replica. */
export interface MountPlace {
  readonly role: string
  readonly index: number
  /** Of the mount, as in its plan. */
  readonly path: string
}

/** Where the files of staged mounts come from. */
export interface Staging {
  /** @throws SchedulerError `rejected` with `mount_failed`, or `unavailable` */
  open(place: MountPlace, signal: AbortSignal): Promise<StagedTree>
}

/** A snapshot of what is to be put into a mount. */
export interface StagedTree {
  /** Hex; the same for the same files with the same content, and for no others: the key of a node's cache. */
  readonly version: string
  readonly totalBytes: number
  readonly files: readonly StagedFile[]
  /**
   * Writes all files below a directory of this machine that has all of theirs, without their passing through this process;
   * null where the files are elsewhere. `mode` is that of the files.
   */
  readonly copyTo: ((directory: string, copying: TreeCopying) => Promise<void>) | null
}

export interface TreeCopying {
  readonly mode: number
  readonly signal: AbortSignal
  /** Told after each file. */
  readonly onFile: (size: number) => void
}

export interface StagedFile {
  /** Relative, plain: no empty part, no `.` or `..`. */
  readonly path: string
  readonly size: number
  /** Verified while it is read: a stream that ends well gave exactly the right bytes. Broken connections are resumed inside. */
  open(signal: AbortSignal): Promise<Readable>
}

export type CollectedFile =
  | ({ readonly kind: 'file'; readonly path: string } & CollectedBody)
  | CollectedLink
  | { readonly kind: 'skipped'; readonly path: string; readonly what: 'device' | 'fifo' | 'socket' }

export interface CollectedLink {
  readonly kind: 'symlink'
  readonly path: string
  /** The regular file of the same mount that it leads to, not over further links; null if it leads elsewhere. */
  follow(): Promise<CollectedBody | null>
}

export interface CollectedBody {
  /** Bytes. */
  readonly size: number
  readonly body: Readable
}

/**
 * - `unavailable`: it did not answer, or not yet; try again later, nothing is known
 * - `rejected`: it answered that it will not; `failure` says how the attempt ends
 * - `not_found`: the thing named is not there
 * - `conflict`: something else holds the name, or the claim has been taken over
 */
export type SchedulerErrorKind = 'unavailable' | 'rejected' | 'not_found' | 'conflict'

export class SchedulerError extends Error {
  override readonly name = 'SchedulerError'
  readonly kind: SchedulerErrorKind
  /** How an attempt ends that meets this error; only for `rejected` and `conflict`. */
  readonly failure: FailureReason

  /** @param message the scheduler's own words, without secrets: it is shown to users. */
  constructor(kind: SchedulerErrorKind, message: string, options: ErrorOptions & { failure?: FailureReason } = {}) {
    super(message, options)
    this.kind = kind
    this.failure = options.failure ?? 'rejected'
  }
}
