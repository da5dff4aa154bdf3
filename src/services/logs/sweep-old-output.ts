import { inBatches } from '../in-batches.ts'
import { FORGET_OUTPUT } from './forget-output.ts'
import type { WorkerDeps } from '../worker-deps.ts'

/** Few at a time: each may have much output. */
const BATCH = 100

const AGED = `
SELECT id FROM job WHERE ended_at < now() - $1::float8 * interval '1 day' AND output_removed_at IS NULL
  AND NOT EXISTS (SELECT FROM attempt WHERE attempt.job_id = job.id AND removed_at IS NULL)
ORDER BY ended_at LIMIT ${BATCH}`

/** What lies beyond the limit when the output of a project's jobs is piled up, that of live jobs first, then by their end. */
const BEYOND = `
WITH output AS (
  SELECT a.job_id, sum(s.size) AS bytes, bool_and(a.removed_at IS NOT NULL) AS over
  FROM log_stream s JOIN attempt a ON a.id = s.attempt_id GROUP BY a.job_id
), pile AS (
  SELECT job.id, job.ended_at, over, sum(bytes) OVER (
    PARTITION BY project_id ORDER BY job.ended_at DESC NULLS FIRST, job.id DESC) AS height
  FROM output JOIN job ON job.id = output.job_id
)
SELECT id FROM pile WHERE height > $1 AND over AND ended_at IS NOT NULL ORDER BY ended_at LIMIT ${BATCH}`

/** Of jobs that nobody is at. */
const REMOVE = `
WITH old AS (
  SELECT id FROM job WHERE id = ANY($1) AND output_removed_at IS NULL FOR UPDATE SKIP LOCKED
), tries AS (SELECT attempt.id FROM attempt JOIN old ON attempt.job_id = old.id
), ${FORGET_OUTPUT}
UPDATE job SET output_removed_at = now() FROM old WHERE job.id = old.id`

/** Forgets the output of ended jobs that is older, or more, than is to be kept. The jobs stay. */
export async function sweepOldOutput(deps: WorkerDeps, stop: AbortSignal): Promise<void> {
  const { days, bytes } = deps.keepOutput
  if (days !== null) await inBatches(BATCH, stop, () => removeSome(deps, AGED, days))
  if (bytes !== null) await inBatches(BATCH, stop, () => removeSome(deps, BEYOND, bytes))
}

async function removeSome(deps: WorkerDeps, find: string, limit: number): Promise<number> {
  const { rows } = await deps.pool.query<{ id: string }>(find, [limit])
  const { rowCount } = await deps.pool.query(REMOVE, [rows.map(({ id }) => id)])
  return rowCount ?? 0
}
