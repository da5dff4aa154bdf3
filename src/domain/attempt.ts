import type { FailureReason } from './failure-reason.ts'
import type { Resources } from './job-spec.ts'
import type { MountPlan } from './mount-plan.ts'

/** One attempt, fully resolved: no lookup, clock, environment or randomness is needed to render it. */
export interface AttemptSpec {
  /** Short id of this Berth installation; two installations never touch each other's native objects. */
  readonly installation: string
  readonly project: string
  readonly jobId: string
  readonly jobName: string
  readonly attemptId: string
  /** 1 for the first try. */
  readonly attempt: number
  /** The claim that submits it; grows with every claim. */
  readonly epoch: number
  readonly graceSeconds: number
  readonly roles: readonly AttemptRole[]
}

export interface AttemptRole {
  readonly name: string
  readonly image: string | null
  readonly entrypoint: readonly string[] | null
  readonly resources: Resources
  readonly workingDir: string | null
  readonly user: string | null
  readonly mounts: readonly MountPlan[]
  /** In order of index, from 0. */
  readonly replicas: readonly AttemptReplica[]
}

/** Command and environment with macros expanded and the BERTH_* variables added. */
export interface AttemptReplica {
  readonly index: number
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** What finds an attempt again on its scheduler, from its own labels; enough after any crash. */
export interface AttemptHandle {
  readonly attemptId: string
  readonly graceSeconds: number
}

export const REPLICA_PHASES = ['pending', 'running', 'succeeded', 'failed', 'lost'] as const
export type ReplicaPhase = (typeof REPLICA_PHASES)[number]

/** What a scheduler says of one replica now. Times are the scheduler's own, RFC 3339 UTC. */
export interface ReplicaObservation {
  readonly role: string
  readonly index: number
  readonly phase: ReplicaPhase
  readonly exitCode: number | null
  readonly startedAt: string | null
  readonly endedAt: string | null
  readonly node: string | null
  /** Native id: container id, process identity. */
  readonly nativeId: string | null
  /** The scheduler's own words, for people. */
  readonly nativeReason: string | null
  /** Set for `failed` and `lost` only. */
  readonly failure: FailureReason | null
}

/** All replicas of one attempt that the scheduler has; replicas that it does not have are left out. */
export interface AttemptObservation {
  readonly attemptId: string
  readonly replicas: readonly ReplicaObservation[]
}

/**
 * `complete`: every attempt of this installation that the scheduler has at all, so that absence means gone.
 * Otherwise only attempts that changed.
 */
export interface ObservationBatch {
  readonly complete: boolean
  readonly attempts: readonly AttemptObservation[]
}

export const LOG_STREAMS = ['stdout', 'stderr'] as const
export type LogStream = (typeof LOG_STREAMS)[number]

/** Bytes as the replica wrote them; `offset` is the position of the first byte within its stream. */
export interface LogChunk {
  readonly stream: LogStream
  readonly offset: number
  readonly bytes: Uint8Array
}

/** Which output to read: one replica, each stream from its own byte offset. */
export interface LogOptions {
  readonly role: string
  readonly index: number
  readonly from: Readonly<Record<LogStream, number>>
  /** Go on until the replica has ended and all its output was given; otherwise end at what is there now. */
  readonly follow: boolean
}
