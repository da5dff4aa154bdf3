import type { Pool } from 'pg'

export interface NewJob {
  readonly id: string
  readonly attemptId: string
  readonly project: string
  readonly name: string
  readonly scheduler: string
  /** JSON texts. */
  readonly spec: string
  readonly labels: string
  readonly resolutions: string
  readonly definition: { readonly name: string; readonly version: number } | null
  readonly idempotency: { readonly route: string; readonly key: string; readonly fingerprint: string } | null
}

/** How long an idempotency key is remembered; announced in the API's description. */
export const IDEMPOTENCY_HOURS = 24

/**
 * Everything that accepting a job means, atomic because it is one statement: idempotency key, job, first attempt,
 * first event, outbox. Nothing is written when the key exists already; a concurrent request with the same key
 * waits here for the first one's commit.
 */
const SUBMIT_JOB = `
WITH key AS (
  INSERT INTO idempotency_key AS k (project_id, route, key, fingerprint, job_id)
  SELECT $3, $11, $12, $13, $1 WHERE $12::text IS NOT NULL
  ON CONFLICT (project_id, route, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, job_id = excluded.job_id, created_at = now()
    WHERE k.created_at < now() - interval '${IDEMPOTENCY_HOURS} hours'
  RETURNING job_id
), new_job AS (
  INSERT INTO job (id, project_id, name, scheduler, state, spec, labels, definition_name, definition_version)
  SELECT $1, $3, $4, $5, 'queued', $6::json, $7::jsonb, $9, $10
  WHERE $12::text IS NULL OR EXISTS (SELECT FROM key)
  RETURNING id, created_at
), new_attempt AS (
  INSERT INTO attempt (id, job_id, number, scheduler, state, resolutions, ring_at)
  SELECT $2, id, 1, $5, 'queued', $8::json, now() + interval '2 seconds' FROM new_job
), new_event AS (
  INSERT INTO job_event (job_id, seq, type, attempt, data)
  SELECT id, 1, 'job.queued', 1, '{"state":"queued","reason":null,"detail":null}' FROM new_job
), new_outbox AS (
  INSERT INTO outbox (attempt_id) SELECT $2 FROM new_job
)
SELECT created_at FROM new_job`

/** When it was accepted, or null when the idempotency key is known already. */
export async function insertJob(pool: Pool, job: NewJob): Promise<Date | null> {
  const { rows } = await pool.query<{ created_at: Date }>({
    name: 'submit_job',
    text: SUBMIT_JOB,
    values: [
      job.id,
      job.attemptId,
      job.project,
      job.name,
      job.scheduler,
      job.spec,
      job.labels,
      job.resolutions,
      job.definition?.name ?? null,
      job.definition?.version ?? null,
      job.idempotency?.route ?? null,
      job.idempotency?.key ?? null,
      job.idempotency?.fingerprint ?? null,
    ],
  })
  return rows[0]?.created_at ?? null
}
