import { inBatches } from '../in-batches.ts'
import { IDEMPOTENCY_HOURS } from '../../db/statements/submit-job.ts'
import { FORGET_OUTPUT } from '../logs/forget-output.ts'
import type { WorkerDeps } from '../worker-deps.ts'

/** Few at a time: each may have much output. */
const BATCH = 100

/** One whose native objects are not known to be gone is kept. */
const IS_GONE = 'NOT EXISTS (SELECT FROM attempt WHERE attempt.job_id = job.id AND removed_at IS NULL)'

const AGED = `
SELECT id FROM job WHERE ended_at < now() - $1::int * interval '1 day' AND ${IS_GONE} ORDER BY ended_at LIMIT ${BATCH}`

/** A job stays for as long as its idempotency key may be sent again: it is the answer. */
const BEYOND = `
WITH project AS (
  SELECT project_id AS id, count(*) - $1::int AS surplus FROM job WHERE ended_at IS NOT NULL GROUP BY project_id
)
SELECT first.id FROM project CROSS JOIN LATERAL (
  SELECT job.id FROM job WHERE job.project_id = project.id AND ended_at IS NOT NULL AND ${IS_GONE}
    AND job.created_at < now() - interval '${IDEMPOTENCY_HOURS} hours'
  ORDER BY ended_at LIMIT least(surplus, ${BATCH})) AS first
WHERE surplus > 0 LIMIT ${BATCH}`

/**
 * A job goes with all that belongs to it, in one statement; messages that are still to be sent stay. So does a job that
 * somebody is at.
 */
const REMOVE = `
WITH old AS (
  SELECT id, project_id FROM job WHERE id = ANY($1) AND ended_at IS NOT NULL AND ${IS_GONE} FOR UPDATE SKIP LOCKED
), tries AS (DELETE FROM attempt USING old WHERE attempt.job_id = old.id RETURNING attempt.id
), replicas AS (DELETE FROM replica USING tries WHERE replica.attempt_id = tries.id
), ${FORGET_OUTPUT}
, events AS (DELETE FROM job_event USING old WHERE job_event.job_id = old.id
), messages AS (
  DELETE FROM webhook_delivery d USING old, webhook w
  WHERE w.project_id = old.project_id AND d.webhook_id = w.id AND d.subject = old.id AND d.due_at IS NULL RETURNING d.id
), sent AS (DELETE FROM webhook_attempt USING messages WHERE delivery_id = messages.id
)
DELETE FROM job USING old WHERE job.id = old.id`

/** Forgets jobs that ended longer ago, or are more, than are to be kept, until there are no more. */
export async function sweepEndedJobs(deps: WorkerDeps, stop: AbortSignal): Promise<void> {
  const { days, count } = deps.keepJobs
  if (days !== null) await inBatches(BATCH, stop, () => removeSome(deps, AGED, days))
  if (count !== null) await inBatches(BATCH, stop, () => removeSome(deps, BEYOND, count))
}

async function removeSome(deps: WorkerDeps, find: string, limit: number): Promise<number> {
  const { rows } = await deps.pool.query<{ id: string }>(find, [limit])
  const { rowCount } = await deps.pool.query(REMOVE, [rows.map(({ id }) => id)])
  return rowCount ?? 0
}
