import type { ReplicaObservation } from '../../domain/attempt.ts'
import type { FailureReason } from '../../domain/failure-reason.ts'

/** The part of `GET /containers/{id}/json` that an outcome is read from. */
export interface ContainerState {
  readonly Status: string
  readonly OOMKilled: boolean
  readonly ExitCode: number
  readonly Error: string
  readonly StartedAt: string
  readonly FinishedAt: string
}

/** What is known of the daemon that answered. */
export interface DaemonFacts {
  readonly node: string | null
  /** null where it cannot be known. */
  readonly startedAt: string | null
}

export type ContainerOutcome = Omit<ReplicaObservation, 'role' | 'index' | 'nativeId'>

/**
 * Phase of a container, by this table:
 *
 * | status | started | phase |
 * |---|---|---|
 * | created, removing | never | pending |
 * | running, paused, restarting | any | running |
 * | exited, dead, removing | yes | ended: succeeded, failed or lost by exit code |
 * | dead | never | lost |
 * | anything else | any | pending: never an outcome without evidence |
 */
export function observeState(state: ContainerState, daemon: DaemonFacts): ContainerOutcome {
  const startedAt = toTime(state.StartedAt)
  const nothing = { exitCode: null, startedAt, endedAt: null, node: daemon.node, nativeReason: state.Error || null, failure: null }
  switch (state.Status) {
    case 'running':
      return { ...nothing, phase: 'running' }
    case 'paused':
    case 'restarting':
      return { ...nothing, phase: 'running', nativeReason: state.Status }
    case 'exited':
    case 'dead':
    case 'removing':
      if (startedAt !== null) return observeEnd(state, daemon, startedAt)
      return state.Status === 'dead' ? { ...nothing, phase: 'lost', failure: 'lost' } : { ...nothing, phase: 'pending' }
    default:
      return { ...nothing, phase: 'pending' }
  }
}

/** Whether it is half removed: its removal broke off, and the daemon gives nothing of it any more but how it ended. */
export const isTorn = ({ Status }: Pick<ContainerState, 'Status'>): boolean => Status === 'dead'

/** Whether its process ever began, whatever became of it. */
export const wasStarted = ({ StartedAt }: ContainerState): boolean => toTime(StartedAt) !== null

/** A daemon was seen to note an end 0.3 ms before the start; the times are given in order. */
function observeEnd(state: ContainerState, daemon: DaemonFacts, startedAt: string): ContainerOutcome {
  const finishedAt = toTime(state.FinishedAt)
  const endedAt = finishedAt !== null && finishedAt < startedAt ? startedAt : finishedAt
  const failure = failureOf(state, daemon)
  const phase = failure === null ? 'succeeded' : failure === 'lost' ? 'lost' : 'failed'
  return { phase, exitCode: state.ExitCode, startedAt, endedAt, node: daemon.node, nativeReason: wordsOf(state, failure), failure }
}

/**
 * The same 137 comes from `docker kill`, from a process that kills itself, and from a daemon that ends its containers as
 * it stops. It is the job's own failure unless the daemon says otherwise: by an error that it noted, or by having been
 * started only after the container's end.
 */
function failureOf(state: ContainerState, { startedAt }: DaemonFacts): FailureReason | null {
  if (state.Error !== '' || toTime(state.FinishedAt) === null) return 'lost'
  if (state.ExitCode === 0) return null
  if (state.OOMKilled) return 'out_of_memory'
  const daemonWentDown = startedAt !== null && Date.parse(state.FinishedAt) < Date.parse(startedAt)
  return daemonWentDown && ENDED_FROM_OUTSIDE.has(state.ExitCode) ? 'lost' : 'executor_error'
}

/** Whether a daemon that shuts down may have ended it. */
export const mayBeEndedByDaemon = (state: ContainerState): boolean => ENDED_FROM_OUTSIDE.has(state.ExitCode) && !state.OOMKilled

/** 128 + SIGKILL, 128 + SIGTERM, and what the daemon notes when it finds the process gone. */
const ENDED_FROM_OUTSIDE: ReadonlySet<number> = new Set([137, 143, 255])

function wordsOf(state: ContainerState, failure: FailureReason | null): string {
  if (state.Error !== '') return state.Error
  if (failure === 'lost') return `exited (${state.ExitCode}) while the Docker daemon was down`
  return `${state.OOMKilled ? 'OOM killed, ' : ''}exited (${state.ExitCode})`
}

/** Docker's zero time means never; its nanoseconds are cut to our milliseconds. */
function toTime(text: string): string | null {
  const time = Date.parse(text)
  return Number.isNaN(time) || time <= 0 ? null : new Date(time).toISOString()
}
