import type { Pool } from 'pg'
import { fanOut } from './fan-out.ts'

/** Longer than a try may take, so that a worker that has died in one is found out. */
const LEASE_SECONDS = 30
/** Messages of one webhook that are on their way at once, and of one whose last one failed. */
const AT_ONCE = 16
const AT_ONCE_FAILING = 4
/** After so many failures in a row a webhook gets one try a minute, until one succeeds. */
const BROKEN_AT = 10
const PROBE_SECONDS = 60
/** Nothing but failures for so long ends it. */
const GIVE_UP_DAYS = 5

export interface DueDelivery {
  readonly id: string
  readonly webhookId: string
  readonly project: string
  readonly url: string
  readonly type: string
  readonly data: unknown
  readonly eventAt: Date
  /** Number of this try, which also fences it. */
  readonly attempt: number
  /** Tries of the schedule so far, with this one. */
  readonly tries: number
}

/**
 * Takes what is due, of each webhook no more than it may have on its way: one that is dead cannot hold up the others. In
 * order, a message waits until those of the same subject before it are over.
 */
const TAKE = `
WITH due AS (
  SELECT taken.id, w.url, w.project_id FROM webhook w CROSS JOIN LATERAL (
    SELECT d.id FROM webhook_delivery d
    WHERE d.webhook_id = w.id AND d.due_at <= now() AND (d.lease_until IS NULL OR d.lease_until < now())
      AND (w.delivery_order = 'none' OR NOT EXISTS (
        SELECT FROM webhook_delivery e WHERE e.webhook_id = w.id AND e.subject = d.subject AND e.seq < d.seq AND e.due_at IS NOT NULL))
    ORDER BY d.due_at, d.seq
    LIMIT greatest(0, CASE WHEN w.failures >= ${BROKEN_AT} THEN 1 WHEN w.failures > 0 THEN ${AT_ONCE_FAILING} ELSE ${AT_ONCE} END - (
      SELECT count(*) FROM webhook_delivery b WHERE b.webhook_id = w.id AND b.lease_until >= now()))
    FOR UPDATE SKIP LOCKED
  ) taken
  WHERE w.enabled AND (w.paused_until IS NULL OR w.paused_until <= now())
  LIMIT $1
)
UPDATE webhook_delivery d SET attempts = attempts + 1, tries = tries + 1, lease_until = now() + interval '${LEASE_SECONDS} seconds'
FROM due WHERE d.id = due.id
RETURNING d.id, d.webhook_id AS "webhookId", due.project_id AS project, due.url, d.type, d.data, d.event_at AS "eventAt",
  d.attempts AS attempt, d.tries`

export async function takeDeliveries(pool: Pool, most: number): Promise<DueDelivery[]> {
  const { rows } = await pool.query<DueDelivery>({ name: 'take_deliveries', text: TAKE, values: [most] })
  return rows
}

/** Gives one back that was not tried. */
export async function giveBackDelivery(pool: Pool, { id, attempt }: DueDelivery): Promise<void> {
  const text = 'UPDATE webhook_delivery SET attempts = attempts - 1, tries = tries - 1, lease_until = NULL WHERE id = $1 AND attempts = $2'
  await pool.query({ name: 'give_back_delivery', text, values: [id, attempt] })
}

export interface Try {
  /** Of the answer; null if there was none. */
  readonly status: number | null
  readonly latencyMs: number
  readonly error: string | null
  readonly answer: string | null
  /** Until the next one; null for none. */
  readonly delaySeconds: number | null
  /** How long the receiver wants to be left alone. */
  readonly pauseSeconds: number
  /** It wants no more of them at all. */
  readonly gone: boolean
}

const IS_HOPELESS = `coalesce(w.failing_since < now() - interval '${GIVE_UP_DAYS} days', false)`

/**
 * What a try came to, in one: the delivery, the try itself, how its webhook is, and who is told if that is given up. One that
 * was asked for again meanwhile, and so has begun to count anew, stays due.
 */
const RECORD = `
WITH d AS (
  UPDATE webhook_delivery SET lease_until = NULL,
    state = CASE WHEN tries <> $11 THEN state WHEN $3 THEN 'delivered' WHEN $8::float8 IS NULL THEN 'failed' ELSE 'pending' END,
    delivered_at = CASE WHEN tries = $11 AND $3 THEN now() END,
    due_at = CASE WHEN tries <> $11 THEN due_at WHEN NOT $3 THEN now() + $8::float8 * interval '1 second' END
  WHERE id = $1 AND attempts = $2
  RETURNING id, webhook_id
), attempt AS (
  INSERT INTO webhook_attempt (delivery_id, number, at, status, latency_ms, error, answer)
  SELECT id, $2, now() - $5 * interval '1 millisecond', $4, $5, $6, $7 FROM d
  ON CONFLICT DO NOTHING
), healthy AS (
  UPDATE webhook w SET failures = 0, failing_since = NULL, paused_until = NULL
  FROM d WHERE w.id = d.webhook_id AND $3 AND w.failures > 0
), failing AS (
  UPDATE webhook w SET
    failures = w.failures + 1, failing_since = coalesce(w.failing_since, now()),
    paused_until = CASE WHEN $9::float8 > 0 OR w.failures + 1 >= ${BROKEN_AT} THEN greatest(w.paused_until,
      now() + greatest($9, CASE WHEN w.failures + 1 >= ${BROKEN_AT} THEN ${PROBE_SECONDS} ELSE 0 END) * interval '1 second') END,
    enabled = w.enabled AND NOT ($10 OR ${IS_HOPELESS}),
    disabled_why = CASE WHEN NOT w.enabled THEN w.disabled_why WHEN $10 THEN 'gone' WHEN ${IS_HOPELESS} THEN 'failing' END,
    version = w.version + CASE WHEN w.enabled AND ($10 OR ${IS_HOPELESS}) THEN 1 ELSE 0 END
  FROM d WHERE w.id = d.webhook_id AND NOT $3
  RETURNING w.id, w.project_id, w.name, w.version, w.enabled, w.disabled_why
), told AS (${fanOut({
  from: 'FROM failing f JOIN webhook w ON w.project_id = f.project_id AND w.id <> f.id AND NOT f.enabled AND f.disabled_why IS NOT NULL',
  kind: 'webhook',
  type: "'webhook.disabled'",
  subject: 'f.id',
  seq: 'f.version',
  at: 'now()',
  labels: `'{}'::jsonb`,
  named: 'false',
  data: `jsonb_build_object('webhookId', f.id, 'webhook', f.name, 'sequence', f.version, 'reason', f.disabled_why)`,
})}
)
SELECT enabled FROM failing`

/** @returns whether the webhook was given up by this */
export async function recordTry(pool: Pool, { id, attempt, tries }: DueDelivery, ended: Try): Promise<{ disabled: boolean }> {
  const isTaken = ended.status !== null && ended.status >= 200 && ended.status < 300
  const { rows } = await pool.query<{ enabled: boolean }>({
    name: 'record_try',
    text: RECORD,
    values: [
      id,
      attempt,
      isTaken,
      ended.status,
      ended.latencyMs,
      ended.error,
      ended.answer,
      ended.delaySeconds,
      ended.pauseSeconds,
      ended.gone,
      tries,
    ],
  })
  return { disabled: rows[0] !== undefined && !rows[0].enabled }
}
