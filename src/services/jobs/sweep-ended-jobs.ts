import { FORGET_OUTPUT } from '../logs/forget-output.ts'
import type { WorkerDeps } from '../worker-deps.ts'

/** Few at a time: each may have much output. */
const BATCH = 100

/**
 * A job goes with all that belongs to it, in one statement. One whose native objects are not known to be gone stays, and so
 * does one that somebody is at.
 */
const REMOVE = `
WITH old AS (
  SELECT id FROM job WHERE ended_at < now() - $1::int * interval '1 day'
    AND NOT EXISTS (SELECT FROM attempt WHERE attempt.job_id = job.id AND removed_at IS NULL)
  ORDER BY ended_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
), tries AS (DELETE FROM attempt USING old WHERE attempt.job_id = old.id RETURNING attempt.id
), replicas AS (DELETE FROM replica USING tries WHERE replica.attempt_id = tries.id
), ${FORGET_OUTPUT}
, events AS (DELETE FROM job_event USING old WHERE job_event.job_id = old.id
)
DELETE FROM job USING old WHERE job.id = old.id`

/** Forgets jobs that ended longer ago than they are to be kept, until there are no more. */
export async function sweepEndedJobs(deps: WorkerDeps): Promise<void> {
  if (deps.keepDays === null) return
  for (;;) {
    const { rowCount } = await deps.pool.query(REMOVE, [deps.keepDays])
    if (rowCount !== BATCH) return
  }
}
