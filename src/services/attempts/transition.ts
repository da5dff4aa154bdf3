import type { Outcome, StopReason } from '../../domain/decide-outcome.ts'
import { MOVES, type JobState } from '../../domain/job-state.ts'
import { moveState, type Moved } from '../../db/statements/transition.ts'
import type { StagingFigures } from '../../schedulers/scheduler.ts'
import type { ServiceDeps } from '../service-deps.ts'

export interface Change {
  readonly attemptId: string
  /** What the state waits for, or how it failed. */
  readonly reason?: string | null
  readonly detail?: string | null
  /** The claim that asks; leave it out where no claim is needed (cancel, observations). */
  readonly epoch?: number
  /** Something is to be done for the attempt now. */
  readonly wake?: boolean
  /** From now on its replicas are to end. The first reason stays. */
  readonly stopReason?: StopReason
  /** How its replicas ended. The first outcome stays. */
  readonly outcome?: Outcome
  /** How far it is, in numbers; told with the event. */
  readonly figures?: StagingFigures
  /** The attempt is over, and this one comes after it: the job is queued again. */
  readonly nextAttempt?: { readonly id: string; readonly delaySeconds: number }
}

/**
 * The one function that moves a job's state: row and event in one statement, guarded by the table of legal moves.
 *
 * @returns null when the move came too late or is not legal; nothing has changed then.
 */
export async function transition(deps: ServiceDeps, to: JobState, change: Change): Promise<Moved | null> {
  const jobTo = change.nextAttempt ? 'queued' : to
  return write(deps, change, { to, jobTo, from: MOVES[to], eventType: `job.${jobTo}` })
}

/** Records why the state lasts, or that it is to be left, without leaving it. Null if it has been left, or is known. */
export async function noteProgress(deps: ServiceDeps, state: JobState, change: Change): Promise<Moved | null> {
  return write(deps, change, { to: state, jobTo: state, from: [state], eventType: 'job.progress' })
}

interface Step {
  readonly to: JobState
  readonly jobTo: JobState
  readonly from: readonly JobState[]
  readonly eventType: string
}

async function write(deps: ServiceDeps, change: Change, step: Step): Promise<Moved | null> {
  const moved = await moveState(deps.pool, {
    ...step,
    attemptId: change.attemptId,
    reason: change.reason ?? null,
    detail: change.detail ?? null,
    epoch: change.epoch ?? null,
    wake: change.wake ?? false,
    stopReason: change.stopReason ?? null,
    outcome: change.outcome ? JSON.stringify(change.outcome) : null,
    nextAttempt: change.nextAttempt ?? null,
    extra: change.figures ? JSON.stringify({ figures: change.figures }) : '{}',
  })
  if (moved) deps.signals.notify(`job:${moved.jobId}`)
  if (moved?.sent) deps.signals.notify('webhooks')
  if (moved && change.wake) deps.signals.notify('due')
  return moved
}
