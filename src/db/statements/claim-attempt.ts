import type { Pool } from 'pg'
import type { JobSpec } from '../../domain/job-spec.ts'
import type { JobState } from '../../domain/job-state.ts'
import type { Resolution } from '../../domain/mount-plan.ts'
import type { Outcome, StopReason } from '../../domain/decide-outcome.ts'

/** A claim lasts this long unless renewed; the worker itself stops acting at 60 % of it. */
export const LEASE_SECONDS = 8

/** What a worker needs to act on an attempt that it has just claimed. */
export interface Claim {
  readonly attemptId: string
  readonly jobId: string
  readonly project: string
  readonly number: number
  readonly epoch: number
  readonly state: JobState
  readonly spec: JobSpec
  readonly resolutions: readonly Resolution[]
  /** Something may exist on the scheduler. */
  readonly submitting: boolean
  /** Everything exists on the scheduler. */
  readonly submitted: boolean
  readonly stopReason: StopReason | null
  readonly outcome: Outcome | null
  readonly cancelRequested: boolean
}

/**
 * Takes the attempt for one worker, as a new epoch, on the database's clock. While it is held `due_at` lies in the
 * future: whoever wakes the attempt meanwhile sets it to now, and the release sees that.
 */
const CLAIM = `
UPDATE attempt SET
  owner = $2, epoch = epoch + 1, rings = 0,
  lease_until = now() + interval '${LEASE_SECONDS} seconds',
  due_at = now() + interval '${LEASE_SECONDS} seconds',
  ring_at = now() + interval '${LEASE_SECONDS} seconds'
FROM job
WHERE attempt.id = $1 AND job.id = attempt.job_id
  AND attempt.removed_at IS NULL AND attempt.due_at <= now()
  AND (attempt.lease_until IS NULL OR attempt.lease_until < now())
RETURNING attempt.id AS "attemptId", job.id AS "jobId", job.project_id AS project, attempt.number, attempt.epoch,
  attempt.state, job.spec, attempt.resolutions, attempt.submitting_at IS NOT NULL AS submitting,
  attempt.submitted_at IS NOT NULL AS submitted, attempt.stop_reason AS "stopReason", attempt.outcome,
  job.cancel_requested_at IS NOT NULL AS "cancelRequested"`

/**
 * Whether somebody has woken the attempt, by a look at the clock and not at `now()`: that is when this statement began, and
 * one that began later may have had the row first. Its wake-up would pass for the future, and be forgotten.
 */
const IS_DUE = 'due_at <= clock_timestamp()'

const RENEW = `
UPDATE attempt SET
  lease_until = now() + interval '${LEASE_SECONDS} seconds',
  due_at = CASE WHEN ${IS_DUE} THEN due_at ELSE now() + interval '${LEASE_SECONDS} seconds' END
WHERE id = $1 AND epoch = $2 AND owner IS NOT NULL`

/** A wake-up that came during the claim stays due, and is rung for at once. */
const RELEASE = `
UPDATE attempt SET
  owner = NULL, lease_until = NULL,
  due_at = CASE WHEN removed_at IS NOT NULL THEN NULL
    WHEN ${IS_DUE} THEN due_at ELSE now() + $3::float8 * interval '1 second' END,
  ring_at = CASE WHEN ${IS_DUE} THEN now() ELSE now() + coalesce($3::float8, 0) * interval '1 second' END
WHERE id = $1 AND epoch = $2
RETURNING coalesce(${IS_DUE}, false) AS due`

/** Output of an attempt that is shorter stays in the database: an object of its own would cost more than its rows. */
const ARCHIVED_BYTES = 16 * 1024

/** The last step lets go of the claim as well: nobody takes up an attempt that is gone, to let go in place of a dead worker. */
const MARK = {
  submitting: `UPDATE attempt SET submitting_at = coalesce(submitting_at, now()) WHERE id = $1 AND epoch = $2 AND stop_reason IS NULL`,
  submitted: `UPDATE attempt SET submitted_at = coalesce(submitted_at, now()) WHERE id = $1 AND epoch = $2`,
  removed: `
    WITH gone AS (
      UPDATE attempt SET removed_at = now(), owner = NULL, lease_until = NULL, due_at = NULL WHERE id = $1 AND epoch = $2
      RETURNING id),
    noted AS (
      INSERT INTO log_work (attempt_id, act, due_at)
      SELECT id, 'archive', now() + interval '1 minute' FROM gone
      WHERE (SELECT sum(size) FROM log_stream WHERE attempt_id = $1) >= ${ARCHIVED_BYTES}
      ON CONFLICT DO NOTHING)
    SELECT id FROM gone`,
} as const

/** Null when it is held, not due, or finished with: nothing to do then. */
export async function claimAttempt(pool: Pool, attemptId: string, owner: string): Promise<Claim | null> {
  const { rows } = await pool.query<Claim>({ name: 'claim', text: CLAIM, values: [attemptId, owner] })
  return rows[0] ?? null
}

/** False when somebody else has it now. */
export async function renewClaim(pool: Pool, { attemptId, epoch }: Claim): Promise<boolean> {
  const { rowCount } = await pool.query({ name: 'renew', text: RENEW, values: [attemptId, epoch] })
  return rowCount === 1
}

/**
 * @param dueInSeconds when to look again without being woken; null for never.
 * @returns whether it is due already, and to be rung for.
 */
export async function releaseClaim(pool: Pool, { attemptId, epoch }: Claim, dueInSeconds: number | null): Promise<boolean> {
  const { rows } = await pool.query<{ due: boolean }>({ name: 'release', text: RELEASE, values: [attemptId, epoch, dueInSeconds] })
  return rows[0]?.due ?? false
}

/** Records a step of the claimed attempt; false when the claim is gone, or, before submitting, when it is to be stopped. */
export async function markAttempt(pool: Pool, { attemptId, epoch }: Claim, step: keyof typeof MARK): Promise<boolean> {
  const { rowCount } = await pool.query({ name: `mark_${step}`, text: MARK[step], values: [attemptId, epoch] })
  return rowCount === 1
}
