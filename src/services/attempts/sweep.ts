import { QUEUE_TIMED_OUT } from '../../domain/decide-outcome.ts'
import { IDEMPOTENCY_HOURS } from '../../db/statements/submit-job.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { noteProgress } from './transition.ts'

const BATCH = 500

const OVERDUE = `
SELECT id FROM attempt
WHERE deadline_at <= now() AND outcome IS NULL AND state = 'running' AND stop_reason IS NULL LIMIT ${BATCH}`

const WAITED_TOO_LONG = `
SELECT id FROM attempt
WHERE queue_deadline_at <= now() AND outcome IS NULL AND state IN ('queued', 'starting', 'pending') AND stop_reason IS NULL
LIMIT ${BATCH}`

const OLD_KEYS = `
DELETE FROM idempotency_key WHERE (project_id, route, key) IN (
  SELECT project_id, route, key FROM idempotency_key
  WHERE created_at < now() - interval '${IDEMPOTENCY_HOURS} hours' LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`

/** Long after the last look of an attempt whose worker comes again. */
const OLD_COMMITS = `DELETE FROM drive_commit WHERE done_at < now() - interval '30 days'`

/** Messages and their tries are kept for a month; what is still to be sent is never older. */
const OLD_DELIVERIES = `
WITH old AS (
  DELETE FROM webhook_delivery WHERE id IN (
    SELECT id FROM webhook_delivery WHERE event_at < now() - interval '30 days' LIMIT ${BATCH} FOR UPDATE SKIP LOCKED) RETURNING id
)
DELETE FROM webhook_attempt WHERE delivery_id IN (SELECT id FROM old)`

const OLD_DRIVE_EVENTS = `
DELETE FROM drive_event WHERE (drive_id, seq) IN (
  SELECT drive_id, seq FROM drive_event WHERE at < now() - interval '30 days' LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`

/** Tells every attempt that has run, or waited to run, longer than it may to stop. */
export async function sweepOverdue(deps: ServiceDeps): Promise<void> {
  const { rows } = await deps.pool.query<{ id: string }>({ name: 'overdue', text: OVERDUE })
  for (const { id } of rows) {
    const change = {
      attemptId: id,
      reason: 'timed_out',
      detail: 'it ran longer than timeoutSeconds',
      stopReason: 'timed_out',
      wake: true,
    } as const
    await noteProgress(deps, 'running', change)
  }
  await sweepQueue(deps)
}

async function sweepQueue(deps: ServiceDeps): Promise<void> {
  const { rows } = await deps.pool.query<{ id: string }>({ name: 'waited_too_long', text: WAITED_TOO_LONG })
  for (const { id } of rows) {
    const { reason, detail } = QUEUE_TIMED_OUT
    const change = { attemptId: id, reason, detail, stopReason: 'queue_timed_out', wake: true } as const
    for (const state of ['queued', 'starting', 'pending'] as const) if (await noteProgress(deps, state, change)) break
  }
}

/** Forgets idempotency keys that are older than was announced, which batches are visible, and what was told of drives and to webhooks. */
export async function sweepOld(deps: ServiceDeps): Promise<void> {
  await deps.pool.query(OLD_KEYS)
  await deps.pool.query(OLD_COMMITS)
  await deps.pool.query(OLD_DELIVERIES)
  await deps.pool.query(OLD_DRIVE_EVENTS)
}
