import { crashPoint } from '../../crash-point.ts'
import { FAILURE_REASONS, type FailureReason } from '../../domain/failure-reason.ts'
import type { Outcome } from '../../domain/decide-outcome.ts'
import { newId } from '../../domain/id.ts'
import { decideRetry } from '../../domain/retry-decision.ts'
import { copyLogs } from '../logs/copy-logs.ts'
import { keepOutputs } from '../staging/keep-outputs.ts'
import type { Step } from './step.ts'
import { transition } from './transition.ts'
import type { WorkerDeps } from '../worker-deps.ts'

/**
 * Stores the rest of what the attempt printed and makes its outputs visible, then says how it ended: for good, or queued
 * again.
 *
 * @throws SchedulerError `unavailable`: they cannot be read, or not be written, now
 */
export async function settleAttempt(deps: WorkerDeps, step: Step, end: Outcome): Promise<void> {
  const { claim } = step
  if (claim.submitting) await drainLogs(deps, step)
  crashPoint('settle.logs.after')
  const outcome = claim.submitting ? await keepOutputs(deps, step, end) : end
  const change = { attemptId: claim.attemptId, epoch: claim.epoch, reason: outcome.reason, detail: outcome.detail }
  if (outcome.result !== 'failed') {
    await transition(deps, outcome.result, change)
    return
  }
  const decision = decideRetry({
    outcome,
    earlier: await earlierReasons(deps, claim.jobId, claim.number),
    retries: claim.spec.retries,
    cancelRequested: claim.cancelRequested,
    random: Math.random(),
  })
  if (decision.retry) {
    await transition(deps, 'failed', { ...change, nextAttempt: { id: newId('att'), delaySeconds: decision.delaySeconds } })
  } else {
    await transition(deps, 'failed', change)
  }
}

async function drainLogs(deps: WorkerDeps, { claim, scheduler, signal }: Step): Promise<void> {
  const handle = { attemptId: claim.attemptId, graceSeconds: claim.spec.graceSeconds }
  for (const role of claim.spec.roles) {
    for (let index = 0; index < role.replicas; index += 1) {
      const owner = { attemptId: claim.attemptId, role: role.name, index }
      if (!(await deps.followers.settle(owner))) await copyLogs(deps, { scheduler, handle, owner, follow: false }, signal)
    }
  }
}

async function earlierReasons(deps: WorkerDeps, jobId: string, number: number): Promise<FailureReason[]> {
  const { rows } = await deps.pool.query<{ reason: string | null }>(
    'SELECT reason FROM attempt WHERE job_id = $1 AND number < $2 ORDER BY number',
    [jobId, number],
  )
  return rows.map(({ reason }) => reason).filter((reason): reason is FailureReason => reason !== null && reason in FAILURE_REASONS)
}
