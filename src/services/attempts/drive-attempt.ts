import { crashPoint } from '../../crash-point.ts'
import { isTerminal } from '../../domain/job-state.ts'
import { claimAttempt, markAttempt, releaseClaim, type Claim } from '../../db/statements/claim-attempt.ts'
import { SchedulerError, type Scheduler } from '../../schedulers/scheduler.ts'
import { holdClaim } from './hold-claim.ts'
import { checkpointOutputs } from '../staging/checkpoint-outputs.ts'
import { settleAttempt } from './settle-attempt.ts'
import type { Step } from './step.ts'
import { stopAttempt } from './stop-attempt.ts'
import { submitAttempt } from './submit-attempt.ts'
import { noteProgress, transition } from './transition.ts'
import type { WorkerDeps } from '../worker-deps.ts'

/**
 * What a doorbell means: claim the attempt, look where it stands, and take it one step on. Does nothing when another
 * worker has it or nothing is to be done. Safe to repeat at any time and after any crash.
 */
export async function driveAttempt(deps: WorkerDeps, attemptId: string, stop: AbortSignal): Promise<void> {
  const claim = await claimAttempt(deps.pool, attemptId, deps.workerId)
  if (!claim) return
  crashPoint('drive.claimed')
  const held = holdClaim(deps, claim, stop)
  let dueInSeconds: number | null = backoff(claim.epoch)
  try {
    dueInSeconds = await takeStep(deps, claim, held.signal)
  } catch (error) {
    dueInSeconds = held.signal.aborted ? 0 : await explain(deps, claim, error)
  } finally {
    held.release()
    crashPoint('drive.release.before')
    if (await releaseClaim(deps.pool, claim, dueInSeconds)) deps.signals.notify('due')
  }
}

/** @returns in how many seconds to look again without being woken, or null for not at all. */
async function takeStep(deps: WorkerDeps, claim: Claim, signal: AbortSignal): Promise<number | null> {
  const scheduler = schedulerOf(deps, claim)
  const step = { claim, scheduler, signal }
  if (isTerminal(claim.state)) return removeNative(deps, step)
  if (claim.outcome) {
    await settleAttempt(deps, step, claim.outcome)
    return removeNative(deps, step)
  }
  if (claim.stopReason) return stopAttempt(deps, step)
  if (!claim.submitted) {
    const again = await submitAttempt(deps, step)
    if (again !== null) return again
  }
  return checkpointOutputs(deps, step)
}

/** The last step: outcome and output are stored, so nothing native is needed any more. */
async function removeNative(deps: WorkerDeps, step: Step): Promise<number | null> {
  const { claim } = step
  crashPoint('drive.remove.before')
  if (claim.submitting && !(await endAndRemove(deps, step))) return backoff(claim.epoch)
  crashPoint('drive.remove.after')
  await markAttempt(deps.pool, claim, 'removed')
  crashPoint('drive.removed.after')
  return null
}

/** What runs although the attempt is over was taken for lost, or started again by somebody else. @returns whether nothing is left */
async function endAndRemove(deps: WorkerDeps, { claim, scheduler, signal }: Step): Promise<boolean> {
  const handle = { attemptId: claim.attemptId, graceSeconds: claim.spec.graceSeconds }
  if (await scheduler.remove(handle, signal)) return true
  deps.log.warn({ attempt: claim.attemptId }, 'something of an attempt that is over still runs: it is ended')
  await scheduler.cancel(handle, signal)
  return scheduler.remove(handle, signal)
}

function schedulerOf(deps: WorkerDeps, claim: Claim): Scheduler {
  const scheduler = deps.schedulers.get(claim.spec.scheduler)
  if (scheduler) return scheduler
  throw new SchedulerError('unavailable', `no worker here is configured for the scheduler ${claim.spec.scheduler}`)
}

/** Turns what went wrong into something visible, and says when to try again. */
async function explain(deps: WorkerDeps, claim: Claim, error: unknown): Promise<number | null> {
  const known = error instanceof SchedulerError
  if (known && (error.kind === 'rejected' || error.kind === 'conflict') && !claim.outcome) {
    const outcome = { result: 'failed', reason: error.failure, detail: error.message } as const
    const change = { attemptId: claim.attemptId, epoch: claim.epoch, reason: error.failure, detail: error.message, outcome, wake: true }
    const moved = (await transition(deps, 'finishing', change)) ?? (await noteProgress(deps, 'canceling', change))
    return moved ? 0 : backoff(claim.epoch)
  }
  deps.log[known ? 'warn' : 'error']({ err: error, attempt: claim.attemptId }, 'a step failed and will be tried again')
  if (!isTerminal(claim.state)) {
    const [reason, detail] = known ? ['scheduler_unreachable', error.message] : ['internal_error', null]
    const state = claim.state === 'queued' ? 'starting' : claim.state
    await noteProgress(deps, state, { attemptId: claim.attemptId, epoch: claim.epoch, reason, detail })
  }
  return backoff(claim.epoch)
}

/** 1, 2, 4 … 30 seconds: each claim is a try. */
const backoff = (epoch: number): number => Math.min(30, 2 ** Math.min(epoch - 1, 5))
