import type { Pool } from 'pg'
import { fanOut } from './fan-out.ts'

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
  readonly queueTimeoutSeconds: number | null
  /** The ended job that it does again. */
  readonly retryOf: string | null
  readonly idempotency: { readonly route: string; readonly key: string; readonly fingerprint: string } | null
}

/** How long an idempotency key is remembered; announced in the API's description. */
export const IDEMPOTENCY_HOURS = 24

/**
 * Everything that accepting a job means, atomic because it is one statement: job, first event, and the first attempt,
 * which is due at once and so rung for. `from` gives the one row, or none, on which they hang: three inserts that wait
 * for nothing cost a fifth less than three that read each other's rows.
 */
const accept = (from: string) => `
new_attempt AS (
  INSERT INTO attempt (id, job_id, number, scheduler, state, resolutions, queue_deadline_at)
  SELECT $2, $1, 1, $5, 'queued', $8::json, now() + $11::float8 * interval '1 second' ${from}
), new_event AS (
  INSERT INTO job_event (job_id, seq, type, attempt, data)
  SELECT $1, 1, 'job.queued', 1, '{"state":"queued","reason":null,"detail":null}'::jsonb ${from}
), new_delivery AS (${fanOut({
  from: `FROM webhook w ${from === '' ? '' : ', key'} WHERE w.project_id = $3`,
  kind: 'job',
  type: "'job.queued'",
  subject: '$1::text',
  seq: '1',
  at: 'now()',
  labels: '$7::jsonb',
  named: "coalesce(($6::json::jsonb->'webhooks') ? w.name, false)",
  data: `jsonb_build_object('jobId', $1::text, 'name', $4::text, 'scheduler', $5::text, 'labels', $7::jsonb, 'sequence', 1, 'attempt', 1,
    'state', 'queued', 'reason', NULL, 'detail', NULL, 'figures', NULL)`,
})}
)
INSERT INTO job (id, project_id, name, scheduler, state, spec, labels, definition_name, definition_version, retry_of)
SELECT $1, $3, $4, $5, 'queued', $6::json, $7::jsonb, $9, $10::int, $12 ${from}
RETURNING created_at, EXISTS (SELECT FROM new_delivery) AS sent`

const SUBMIT_JOB = `WITH ${accept('')}`

/**
 * The same, if the key is new. A concurrent request with the same key waits here for the first one's commit; then
 * nothing is written.
 */
const SUBMIT_JOB_ONCE = `
WITH key AS (
  INSERT INTO idempotency_key AS k (project_id, route, key, fingerprint, job_id)
  VALUES ($3, $13, $14, $15, $1)
  ON CONFLICT (project_id, route, key) DO UPDATE
    SET fingerprint = excluded.fingerprint, job_id = excluded.job_id, created_at = now()
    WHERE k.created_at < now() - interval '${IDEMPOTENCY_HOURS} hours'
  RETURNING job_id
), ${accept('FROM key')}`

export interface Accepted {
  readonly createdAt: Date
  /** Whether webhooks are to be told. */
  readonly sent: boolean
}

/** Null when the idempotency key is known already. */
export async function insertJob(pool: Pool, job: NewJob): Promise<Accepted | null> {
  const { id, attemptId, project, name, scheduler, spec, labels, resolutions, definition, idempotency } = job
  const columns = [
    id,
    attemptId,
    project,
    name,
    scheduler,
    spec,
    labels,
    resolutions,
    definition?.name ?? null,
    definition?.version ?? null,
    job.queueTimeoutSeconds,
    job.retryOf,
  ]
  const query =
    idempotency === null
      ? { name: 'submit_job', text: SUBMIT_JOB, values: columns }
      : {
          name: 'submit_job_once',
          text: SUBMIT_JOB_ONCE,
          values: [...columns, idempotency.route, idempotency.key, idempotency.fingerprint],
        }
  const { rows } = await pool.query<{ created_at: Date; sent: boolean }>(query)
  return rows[0] ? { createdAt: rows[0].created_at, sent: rows[0].sent } : null
}
