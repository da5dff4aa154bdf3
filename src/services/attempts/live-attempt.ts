import type { JobSpec } from '../../domain/job-spec.ts'
import type { JobState } from '../../domain/job-state.ts'
import type { ReplicaObservation } from '../../domain/attempt.ts'
import type { Stop, StopReason } from '../../domain/decide-outcome.ts'
import type { ServiceDeps } from '../service-deps.ts'

/** What is known of an attempt that has not ended, when something is observed of it. */
export interface LiveAttempt {
  readonly attemptId: string
  readonly state: JobState
  readonly spec: JobSpec
  readonly submitted: boolean
  readonly stopReason: StopReason | null
  readonly cancelRequestedAt: Date | null
  readonly deadlineAt: Date | null
  readonly queueDeadlineAt: Date | null
  readonly replicas: readonly ReplicaObservation[]
}

const LIVE = `
SELECT a.id AS "attemptId", a.state, j.spec, a.submitted_at IS NOT NULL AS submitted, a.stop_reason AS "stopReason",
  j.cancel_requested_at AS "cancelRequestedAt", a.deadline_at AS "deadlineAt", a.queue_deadline_at AS "queueDeadlineAt",
  coalesce((SELECT jsonb_agg(jsonb_build_object('role', r.role, 'index', r.index, 'phase', r.phase, 'exitCode', r.exit_code,
    'startedAt', r.started_at, 'endedAt', r.ended_at, 'node', r.node, 'nativeId', r.native_id,
    'nativeReason', r.native_reason, 'failure', r.failure)) FROM replica r WHERE r.attempt_id = a.id), '[]') AS replicas
FROM attempt a JOIN job j ON j.id = a.job_id AND j.attempt = a.number
WHERE a.outcome IS NULL AND a.removed_at IS NULL`

/** Why the attempt is being ended, and from when on; null while it is not. */
export function stopOf({ stopReason, cancelRequestedAt, deadlineAt, queueDeadlineAt }: LiveAttempt): Stop | null {
  if (stopReason === null) return null
  const at = { canceled: cancelRequestedAt, timed_out: deadlineAt, queue_timed_out: queueDeadlineAt, replica_failed: null }[stopReason]
  return { reason: stopReason, at: at?.toISOString() ?? null }
}

/** Null for an attempt that has ended, or is not ours. */
export async function findLiveAttempt(deps: ServiceDeps, attemptId: string): Promise<LiveAttempt | null> {
  const { rows } = await deps.pool.query<LiveAttempt>({ name: 'live_attempt', text: `${LIVE} AND a.id = $1`, values: [attemptId] })
  return rows[0] ?? null
}

/** Attempts that should exist on the scheduler, whole. */
export async function listSubmittedAttempts(deps: ServiceDeps, scheduler: string): Promise<LiveAttempt[]> {
  const text = `${LIVE} AND a.scheduler = $1 AND a.submitting_at IS NOT NULL AND a.submitted_at IS NOT NULL`
  const { rows } = await deps.pool.query<LiveAttempt>({ name: 'submitted_attempts', text, values: [scheduler] })
  return rows
}

/** Of these attempts, the ones whose native objects are still wanted. */
export async function whichAreWanted(deps: ServiceDeps, attemptIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await deps.pool.query<{ id: string }>('SELECT id FROM attempt WHERE id = ANY($1) AND removed_at IS NULL', [attemptIds])
  return new Set(rows.map((row) => row.id))
}
