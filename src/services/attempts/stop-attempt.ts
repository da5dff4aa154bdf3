import { setTimeout as sleep } from 'node:timers/promises'
import { crashPoint } from '../../crash-point.ts'
import { QUEUE_TIMED_OUT, type Outcome, type StopReason } from '../../domain/decide-outcome.ts'
import type { Step } from './step.ts'
import { findLiveAttempt, type LiveAttempt } from './live-attempt.ts'
import { noteProgress, transition } from './transition.ts'
import type { WorkerDeps } from '../worker-deps.ts'

/** How long the watcher may take to see what the stop did. */
const SETTLE_MS = 500
const LOOK_MS = 50
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
  }
  const live = await waitForEnd(deps, claim.attemptId, claim.submitting ? SETTLE_MS : 0, signal)
  if (!live) return 0
  if (live.replicas.some((replica) => replica.phase !== 'pending')) return LOOK_AGAIN_SECONDS
  const outcome = outcomeOfNothing(claim.stopReason ?? 'canceled')
  const change = { attemptId: claim.attemptId, epoch: claim.epoch, outcome, reason: outcome.reason, detail: outcome.detail, wake: true }
  await ((await noteProgress(deps, 'canceling', change)) ?? transition(deps, 'finishing', change))
  return 0
}

/** Null as soon as the watcher has recorded the end; what is still known of the attempt when the time is over. */
async function waitForEnd(deps: WorkerDeps, attemptId: string, ms: number, signal: AbortSignal): Promise<LiveAttempt | null> {
  for (const until = performance.now() + ms; ; await sleep(LOOK_MS, undefined, { signal })) {
    const live = await findLiveAttempt(deps, attemptId)
    if (!live || performance.now() >= until) return live
  }
}

function outcomeOfNothing(stopReason: StopReason): Outcome {
  if (stopReason === 'canceled') return { result: 'canceled', reason: null, detail: 'canceled before anything ran' }
  if (stopReason === 'queue_timed_out') return QUEUE_TIMED_OUT
  return { result: 'failed', reason: stopReason === 'timed_out' ? 'timed_out' : 'executor_error', detail: null }
}
