import { setTimeout as sleep } from 'node:timers/promises'
import { crashPoint } from '../crash-point.ts'
import type { Outcome, StopReason } from '../domain/decide-outcome.ts'
import type { Step } from './step.ts'
import { findLiveAttempt } from './live-attempt.ts'
import { noteProgress, transition } from './transition.ts'
import type { WorkerDeps } from './worker-deps.ts'

/** Until the watcher has seen what the stop did. */
const SETTLE_MS = 500
const LOOK_AGAIN_SECONDS = 2

/**
 * Ends what runs of the attempt. How its replicas ended is the watcher's to say; only where nothing ever ran is the
 * outcome said here.
 *
 * @throws SchedulerError
 */
export async function stopAttempt(deps: WorkerDeps, { claim, scheduler, signal }: Step): Promise<number | null> {
  if (claim.submitting) {
    crashPoint('stop.cancel.before')
    await scheduler.cancel({ attemptId: claim.attemptId, graceSeconds: claim.spec.graceSeconds }, signal)
    crashPoint('stop.cancel.after')
    await sleep(SETTLE_MS, undefined, { signal })
  }
  const live = await findLiveAttempt(deps, claim.attemptId)
  if (!live) return 0
  if (live.replicas.some((replica) => replica.phase !== 'pending')) return LOOK_AGAIN_SECONDS
  const outcome = outcomeOfNothing(claim.stopReason ?? 'canceled')
  const change = { attemptId: claim.attemptId, epoch: claim.epoch, outcome, reason: outcome.reason, detail: outcome.detail, wake: true }
  await ((await noteProgress(deps, 'canceling', change)) ?? transition(deps, 'finishing', change))
  return 0
}

function outcomeOfNothing(stopReason: StopReason): Outcome {
  if (stopReason === 'canceled') return { result: 'canceled', reason: null, detail: 'canceled before anything ran' }
  return { result: 'failed', reason: stopReason === 'timed_out' ? 'timed_out' : 'executor_error', detail: null }
}
