import type { Pool } from 'pg'
import type { JobState } from '../../domain/job-state.ts'
import { fanOut } from './fan-out.ts'

export interface Move {
  readonly attemptId: string
  /** Where the attempt goes. */
  readonly to: JobState
  /** Where the job goes: the same, but for an attempt that is tried again: then the job is queued. */
  readonly jobTo: JobState
  /** States of the attempt from which that is legal. */
  readonly from: readonly JobState[]
  /** `job.<state>`, or `job.progress` when only the reason changes. */
  readonly eventType: string
  readonly reason: string | null
  readonly detail: string | null
  /** The claim that makes the move; null for observers, who need none. */
  readonly epoch: number | null
  /** Ring for the attempt. */
  readonly wake: boolean
  readonly stopReason: string | null
  /** JSON text of how it ended. */
  readonly outcome: string | null
  readonly nextAttempt: { readonly id: string; readonly delaySeconds: number } | null
  /** JSON text of an object: what the event says beyond state, reason and detail. */
  readonly extra: string
}

export interface Moved {
  readonly jobId: string
  readonly sequence: number
  /** Whether webhooks are to be told. */
  readonly sent: boolean
}

/**
 * The only statement that writes a state. The guard is on the attempt's row, which every other writer locks first:
 * legal source, right epoch, and still the job's own attempt. Zero rows: it was overtaken, which is an answer.
 */
const TRANSITION = `
WITH a AS (
  UPDATE attempt SET
    state = $2, reason = $6, detail = $7,
    started_at = CASE WHEN $2 = 'running' THEN coalesce(attempt.started_at, now()) ELSE attempt.started_at END,
    deadline_at = CASE WHEN $2 = 'running'
      THEN coalesce(attempt.deadline_at, now() + (job.spec->>'timeoutSeconds')::float8 * interval '1 second')
      ELSE attempt.deadline_at END,
    ended_at = CASE WHEN $2 IN ('finishing', 'succeeded', 'failed', 'canceled')
      THEN coalesce(attempt.ended_at, now()) ELSE attempt.ended_at END,
    stop_reason = coalesce(attempt.stop_reason, $10),
    outcome = coalesce(attempt.outcome, $11::jsonb),
    due_at = CASE WHEN $9 THEN now() ELSE attempt.due_at END,
    ring_at = CASE WHEN $9 THEN now() ELSE attempt.ring_at END
  FROM job
  WHERE attempt.id = $1 AND job.id = attempt.job_id AND job.attempt = attempt.number
    AND attempt.state = ANY($4::text[])
    AND ($8::int IS NULL OR attempt.epoch = $8)
    AND (attempt.state <> $2 OR ($11::jsonb IS NOT NULL AND attempt.outcome IS NULL)
      OR (attempt.reason, attempt.detail, attempt.stop_reason)
      IS DISTINCT FROM ($6::text, $7::text, coalesce(attempt.stop_reason, $10)))
  RETURNING attempt.id, attempt.job_id, attempt.number, attempt.scheduler, attempt.resolutions
), moved AS (
  UPDATE job SET
    state = $3, reason = $6, detail = $7, seq = seq + 1,
    attempt = CASE WHEN $12::text IS NULL THEN attempt ELSE attempt + 1 END,
    since = CASE WHEN state = $3 THEN since ELSE now() END,
    cancel_requested_at = CASE WHEN $3 = 'canceling' THEN coalesce(cancel_requested_at, now()) ELSE cancel_requested_at END,
    started_at = CASE WHEN $3 = 'running' THEN coalesce(started_at, now()) ELSE started_at END,
    ended_at = CASE WHEN $3 IN ('succeeded', 'failed', 'canceled') THEN now() ELSE NULL END
  FROM a WHERE job.id = a.job_id
  RETURNING job.id, job.seq, job.project_id, job.name, job.labels, job.spec, a.number, a.scheduler, a.resolutions
), event AS (
  INSERT INTO job_event (job_id, seq, type, attempt, data)
  SELECT id, seq, $5, number, jsonb_build_object('state', $3::text, 'reason', $6::text, 'detail', $7::text) || $14::jsonb FROM moved
), next AS (
  INSERT INTO attempt (id, job_id, number, scheduler, state, resolutions, due_at, ring_at, queue_deadline_at)
  SELECT $12, id, number + 1, scheduler, 'queued', resolutions,
    now() + $13::float8 * interval '1 second', now() + $13::float8 * interval '1 second',
    now() + ($13::float8 + (spec->>'queueTimeoutSeconds')::float8) * interval '1 second'
  FROM moved WHERE $12::text IS NOT NULL
), delivery AS (${fanOut({
  from: 'FROM moved m JOIN webhook w ON w.project_id = m.project_id',
  kind: 'job',
  type: '$5',
  subject: 'm.id',
  seq: 'm.seq',
  at: 'now()',
  labels: 'm.labels',
  named: "coalesce((m.spec::jsonb->'webhooks') ? w.name, false)",
  data: `jsonb_build_object('jobId', m.id, 'name', m.name, 'scheduler', m.scheduler, 'labels', m.labels, 'sequence', m.seq,
      'attempt', m.number, 'state', $3::text, 'reason', $6::text, 'detail', $7::text, 'figures', NULL) || $14::jsonb`,
})}
)
SELECT id, seq, EXISTS (SELECT FROM delivery) AS sent FROM moved`

export async function moveState(pool: Pool, move: Move): Promise<Moved | null> {
  const { rows } = await pool.query<{ id: string; seq: number; sent: boolean }>({
    name: 'transition',
    text: TRANSITION,
    values: [
      move.attemptId,
      move.to,
      move.jobTo,
      move.from,
      move.eventType,
      move.reason,
      move.detail,
      move.epoch,
      move.wake,
      move.stopReason,
      move.outcome,
      move.nextAttempt?.id ?? null,
      move.nextAttempt?.delaySeconds ?? 0,
      move.extra,
    ],
  })
  const row = rows[0]
  return row ? { jobId: row.id, sequence: row.seq, sent: row.sent } : null
}
