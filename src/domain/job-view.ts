import type { FailureReason } from './failure-reason.ts'
import type { LogStream, ReplicaPhase } from './attempt.ts'
import type { JobSpec } from './job-spec.ts'
import type { JobState } from './job-state.ts'
import type { Resolution } from './mount-plan.ts'
import type { Capabilities } from './capabilities.ts'
import type { SchedulerKind } from './scheduler-kind.ts'

/** A job as the API shows it. Times are RFC 3339 UTC with milliseconds. */
export interface JobView {
  readonly id: string
  readonly name: string
  readonly scheduler: string
  readonly state: JobState
  /** Why it is in that state: what it waits for, or how it failed; null when there is nothing to say. */
  readonly reason: string | null
  /** The reason for people: the scheduler's own words. */
  readonly detail: string | null
  /** When it came into that state. */
  readonly since: string
  readonly spec: JobSpec
  readonly definition: { readonly name: string; readonly version: number } | null
  /** Id of the ended job that it does again. */
  readonly retryOf: string | null
  readonly labels: Readonly<Record<string, string>>
  readonly attempts: readonly AttemptView[]
  readonly createdAt: string
  readonly startedAt: string | null
  readonly endedAt: string | null
}

export interface AttemptView {
  readonly number: number
  readonly state: JobState
  readonly reason: string | null
  readonly detail: string | null
  readonly roles: readonly { readonly name: string; readonly replicas: readonly ReplicaView[] }[]
  readonly mounts: readonly Resolution[]
  readonly startedAt: string | null
  readonly endedAt: string | null
}

export interface ReplicaView {
  readonly index: number
  readonly phase: ReplicaPhase
  readonly exitCode: number | null
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly node: string | null
  readonly nativeId: string | null
  readonly nativeReason: string | null
  readonly failure: FailureReason | null
}

/** A job in a list: without spec and attempts. */
export type JobSummary = Omit<JobView, 'spec' | 'attempts' | 'definition' | 'retryOf'>

/** A recorded change. `sequence` is per job, from 1, without gaps. */
export interface JobEvent {
  readonly jobId: string
  readonly sequence: number
  /** `job.<state>` for a change of state, else `job.progress`. */
  readonly type: string
  readonly attempt: number
  readonly state: JobState
  readonly reason: string | null
  readonly detail: string | null
  /** How far the copying of drives is; null for other events. */
  readonly figures: { readonly bytes: number; readonly files: number; readonly totalBytes: number } | null
  readonly at: string
}

/** A piece of output: bytes as they were written, in the order in which they were read. */
export interface LogRecord {
  readonly attempt: number
  readonly role: string
  readonly replica: number
  readonly stream: LogStream
  /** Opaque, URL-safe; reading from it goes on right after the first `bytes` bytes of this record. */
  cursorAt(bytes: number): string
  readonly at: string
  readonly bytes: Uint8Array
}

export interface JobPreview {
  readonly spec: JobSpec
  readonly mounts: readonly Resolution[]
  /** What the scheduler would be asked, in its own form. */
  readonly native: unknown
}

export interface SchedulerView {
  readonly name: string
  readonly kind: SchedulerKind
  readonly capabilities: Capabilities
  /** null until a worker has looked. */
  readonly health: { readonly healthy: boolean; readonly detail: string; readonly checkedAt: string } | null
}

export interface Page<T> {
  readonly items: readonly T[]
  /** Give it back as `cursor` for the next page; null at the end. */
  readonly nextCursor: string | null
}
