import { MESSAGE_DAYS } from '../db/statements/fan-out.ts'
import { IDEMPOTENCY_HOURS } from '../db/statements/submit-job.ts'
import { inBatches } from './in-batches.ts'
import type { ServiceDeps } from './service-deps.ts'

const BATCH = 500

const KEYS = `
DELETE FROM idempotency_key WHERE (project_id, route, key) IN (
  SELECT project_id, route, key FROM idempotency_key
  WHERE created_at < now() - interval '${IDEMPOTENCY_HOURS} hours' LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`

/** Long after the last look of an attempt whose worker comes again. */
const COMMITS = `
DELETE FROM drive_commit WHERE id IN (
  SELECT id FROM drive_commit WHERE done_at < now() - interval '30 days' LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`

/** With their tries; what is still to be sent is never older. */
const MESSAGES = `
WITH old AS (
  SELECT id FROM webhook_delivery WHERE event_at < now() - interval '${MESSAGE_DAYS} days' LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
), tries AS (DELETE FROM webhook_attempt USING old WHERE delivery_id = old.id
)
DELETE FROM webhook_delivery USING old WHERE webhook_delivery.id = old.id`

const DRIVE_EVENTS = `
DELETE FROM drive_event WHERE (drive_id, seq) IN (
  SELECT drive_id, seq FROM drive_event WHERE at < now() - interval '30 days' LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`

/** Forgets idempotency keys that are older than was announced, which batches are visible, and what was told of drives and to webhooks. */
export async function sweepOld(deps: ServiceDeps, stop: AbortSignal): Promise<void> {
  for (const text of [KEYS, COMMITS, MESSAGES, DRIVE_EVENTS]) {
    await inBatches(BATCH, stop, async () => (await deps.pool.query(text)).rowCount ?? 0)
  }
}
