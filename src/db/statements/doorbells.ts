import type { Pool } from 'pg'
import type { Doorbell } from '../../domain/doorbell.ts'

/** Due, held by nobody, and not rung for just now: again after 2 s, then doubling up to a minute. */
const TAKE_DUE = `
UPDATE attempt SET rings = rings + 1, ring_at = now() + least(60, 2 ^ least(rings + 1, 6)) * interval '1 second'
WHERE id IN (
  SELECT id FROM attempt
  WHERE due_at <= now() AND ring_at <= now() AND (lease_until IS NULL OR lease_until < now())
  ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING id, scheduler, epoch, rings`

const NOT_RUNG = `UPDATE attempt SET rings = rings - 1, ring_at = now() WHERE id = ANY($1) AND rings > 0`

interface DueRow {
  readonly id: string
  readonly scheduler: string
  readonly epoch: number
  readonly rings: number
}

/**
 * Attempts that wait for somebody: new ones, woken ones, and those whose doorbell was lost or whose worker died. Each is
 * given out once; whoever dies before ringing costs it 2 s.
 */
export async function takeDue(pool: Pool, limit: number): Promise<Doorbell[]> {
  const { rows } = await pool.query<DueRow>({ name: 'take_due', text: TAKE_DUE, values: [limit] })
  return rows.map(({ id, scheduler, epoch, rings }) => ({ attemptId: id, scheduler, ring: `${epoch}-${rings}` }))
}

/** The queue did not take them: they wait again as if they had not been given out. */
export async function giveBack(pool: Pool, doorbells: readonly Doorbell[]): Promise<void> {
  await pool.query({ name: 'not_rung', text: NOT_RUNG, values: [doorbells.map(({ attemptId }) => attemptId)] })
}
