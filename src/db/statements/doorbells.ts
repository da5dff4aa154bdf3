import type { Pool } from 'pg'
import type { Doorbell } from '../../domain/doorbell.ts'

const TAKE_OUTBOX = `
DELETE FROM outbox WHERE id IN (SELECT id FROM outbox ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING attempt_id, id`

/** Due, held by nobody, and not rung for just now: 2 s after the relay's own ring, then doubling up to a minute. */
const TAKE_DUE = `
UPDATE attempt SET rings = rings + 1, ring_at = now() + least(60, 2 ^ least(rings + 1, 6)) * interval '1 second'
WHERE id IN (
  SELECT id FROM attempt
  WHERE due_at <= now() AND ring_at <= now() AND (lease_until IS NULL OR lease_until < now())
  ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING id, epoch, rings`

/**
 * Hands waiting doorbells to `ring` and forgets them once it has returned: if it throws, they stay, and if the
 * process dies in between they are rung twice. Returns how many there were.
 */
export async function relayDoorbells(pool: Pool, limit: number, ring: (doorbells: Doorbell[]) => Promise<void>): Promise<number> {
  const client = await pool.connect()
  let broken = true
  try {
    await client.query('BEGIN')
    const { rows } = await client.query<{ attempt_id: string; id: number }>({ name: 'take_outbox', text: TAKE_OUTBOX, values: [limit] })
    if (rows.length > 0) await ring(rows.map((row) => ({ attemptId: row.attempt_id, ring: `o${row.id}` })))
    await client.query('COMMIT')
    broken = false
    return rows.length
  } finally {
    client.release(broken)
  }
}

/** Attempts that nobody came for: their doorbell was lost, or their worker died. */
export async function takeDue(pool: Pool, limit: number): Promise<Doorbell[]> {
  const { rows } = await pool.query<{ id: string; epoch: number; rings: number }>({ name: 'take_due', text: TAKE_DUE, values: [limit] })
  return rows.map((row) => ({ attemptId: row.id, ring: `s${row.epoch}-${row.rings}` }))
}
