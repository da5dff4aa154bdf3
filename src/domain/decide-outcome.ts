import type { ReplicaObservation } from './attempt.ts'
import { FAILURE_REASONS, type FailureReason } from './failure-reason.ts'
import type { OnReplicaFailure } from './job-spec.ts'
import type { TerminalState } from './job-state.ts'

export const STOP_REASONS = ['canceled', 'timed_out', 'queue_timed_out', 'replica_failed'] as const
/** Why the replicas of an attempt are being ended by us. */
export type StopReason = (typeof STOP_REASONS)[number]

export interface Stop {
  readonly reason: StopReason
  /**
   * RFC 3339. What ended until then ended by itself; what ended later was ended by the stop.
   * For `canceled` when it was asked for, for `timed_out` and `queue_timed_out` the deadline; null where it is not known.
   */
  readonly at: string | null
}

export interface Outcome {
  readonly result: TerminalState
  /** Set for `failed` only. */
  readonly reason: FailureReason | null
  /** For people, such as `trainer/1 ended with exit code 3`; null for a success. */
  readonly detail: string | null
}

export type Decision =
  | { readonly kind: 'wait' }
  | { readonly kind: 'stop'; readonly reason: 'replica_failed' }
  | { readonly kind: 'ended'; readonly outcome: Outcome }

export interface OutcomeFacts {
  /** All roles of the job, in its order. */
  readonly roles: readonly { readonly name: string; readonly replicas: number }[]
  /** The last of each replica. One that is missing has not been seen yet; what is gone for good must be given as `lost`. */
  readonly observations: readonly ReplicaObservation[]
  readonly stop: Stop | null
  readonly onReplicaFailure: OnReplicaFailure
  readonly timeoutSeconds: number | null
}

/**
 * What the replicas' ends make of an attempt. It ends only when every replica has.
 *
 * What happened by itself before a stop stays true: a success is a success, and a failure keeps its reason.
 */
export function decideOutcome(facts: OutcomeFacts): Decision {
  const seen = new Map(facts.observations.map((observation) => [`${observation.role}/${observation.index}`, observation]))
  const replicas = facts.roles.flatMap(({ name, replicas: count }) =>
    Array.from({ length: count }, (_, index) => seen.get(`${name}/${index}`)),
  )
  const ended = replicas.filter((replica): replica is ReplicaObservation => replica !== undefined && hasEnded(replica))
  if (ended.length === replicas.length) return { kind: 'ended', outcome: outcomeOf(ended, facts) }
  const ends = facts.stop === null && facts.onReplicaFailure === 'cancel_others' && ended.some(isBad)
  return ends ? { kind: 'stop', reason: 'replica_failed' } : { kind: 'wait' }
}

const hasEnded = ({ phase }: ReplicaObservation): boolean => phase === 'succeeded' || phase === 'failed' || phase === 'lost'

const isBad = ({ phase }: ReplicaObservation): boolean => phase === 'failed' || phase === 'lost'

function outcomeOf(ended: readonly ReplicaObservation[], { stop, timeoutSeconds }: OutcomeFacts): Outcome {
  const byItself = ended.filter((replica) => endedByItself(replica, stop))
  const cause = firstOf(byItself.filter(isBad), stop)
  if (cause !== undefined) return { result: 'failed', reason: reasonOf(cause), detail: detailOf(cause) }
  if (byItself.length === ended.length || stop === null) return SUCCESS
  if (stop.reason === 'canceled') return { result: 'canceled', reason: null, detail: 'canceled on request' }
  return stop.reason === 'queue_timed_out'
    ? QUEUE_TIMED_OUT
    : { result: 'failed', reason: 'timed_out', detail: timeoutDetail(timeoutSeconds) }
}

/** However far the replicas had come when they were ended. */
export const QUEUE_TIMED_OUT: Outcome = { result: 'failed', reason: 'queue_timed_out', detail: FAILURE_REASONS.queue_timed_out.meaning }

const SUCCESS: Outcome = { result: 'succeeded', reason: null, detail: null }

/** Where a time is not known, only a success counts as its own. A stop for a failed replica hides no cause: see `firstOf`. */
function endedByItself(replica: ReplicaObservation, stop: Stop | null): boolean {
  if (stop === null || stop.reason === 'replica_failed') return true
  if (stop.at !== null && replica.endedAt !== null) return Date.parse(replica.endedAt) <= Date.parse(stop.at)
  return replica.phase === 'succeeded'
}

/** The first that ended; one that a stop may have killed only if there is no other, and one without a time after those with one. */
function firstOf(replicas: readonly ReplicaObservation[], stop: Stop | null): ReplicaObservation | undefined {
  const suspicion = (replica: ReplicaObservation): number => (stop !== null && looksStopped(replica) ? 1 : 0)
  const time = ({ endedAt }: ReplicaObservation): number => (endedAt === null ? Number.MAX_VALUE : Date.parse(endedAt))
  return [...replicas].sort((a, b) => suspicion(a) - suspicion(b) || time(a) - time(b))[0]
}

/** Ended with 128 + SIGTERM or 128 + SIGKILL, and not for its memory. */
const looksStopped = (replica: ReplicaObservation): boolean =>
  reasonOf(replica) === 'executor_error' && (replica.exitCode === 143 || replica.exitCode === 137)

const reasonOf = ({ phase, failure }: ReplicaObservation): FailureReason => failure ?? (phase === 'lost' ? 'lost' : 'executor_error')

function detailOf(replica: ReplicaObservation): string {
  const who = `${replica.role}/${replica.index}`
  const reason = reasonOf(replica)
  if (reason === 'executor_error' && replica.exitCode !== null) return `${who} ended with exit code ${replica.exitCode}`
  return `${who}: ${FAILURE_REASONS[reason].meaning}${replica.nativeReason === null ? '' : ` (${replica.nativeReason})`}`
}

const timeoutDetail = (seconds: number | null): string => (seconds === null ? 'ran longer than it may' : `ran longer than ${seconds} s`)
