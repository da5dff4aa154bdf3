import { isTerminal } from '../../domain/job-state.ts'
import type { JobView } from '../../domain/job-view.ts'
import { Problem } from '../../domain/problem.ts'
import { getJob, type JobId } from './get-job.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { transition } from '../attempts/transition.ts'

const CURRENT_ATTEMPT = `
SELECT a.id FROM attempt a JOIN job j ON j.id = a.job_id AND j.attempt = a.number WHERE j.id = $1 AND j.project_id = $2`

/** An attempt whose replicas have ended is not canceled any more, but it is not tried again either. */
const NOTE_INTENT = `
UPDATE job SET cancel_requested_at = coalesce(cancel_requested_at, now()) WHERE id = $1 AND ended_at IS NULL`

/**
 * Writes the wish down; a worker carries it out. The job is `canceled` only when nothing of it runs any more, and a
 * job that ended by itself meanwhile keeps its true outcome. Safe to repeat.
 *
 * @throws Problem `not_found`; `wrong_state` when it had already succeeded or failed
 */
export async function cancelJob(deps: ServiceDeps, job: JobId): Promise<JobView> {
  const { rows } = await deps.pool.query<{ id: string }>(CURRENT_ATTEMPT, [job.id, job.project])
  const attemptId = rows[0]?.id
  if (attemptId !== undefined) {
    const moved = await transition(deps, 'canceling', { attemptId, stopReason: 'canceled', wake: true })
    if (!moved) await deps.pool.query(NOTE_INTENT, [job.id])
  }
  const view = await getJob(deps, job)
  if (isTerminal(view.state) && view.state !== 'canceled') {
    throw new Problem('wrong_state', `the job has already ${view.state}; only a job that has not ended can be canceled`)
  }
  return view
}
