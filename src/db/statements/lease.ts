import type { Pool } from 'pg'

/** A lease that is not renewed for this long may be taken by another worker. */
export const WATCH_LEASE_SECONDS = 6

const TAKE = `
INSERT INTO lease AS l (name, owner, until) VALUES ($1, $2, now() + interval '${WATCH_LEASE_SECONDS} seconds')
ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, until = excluded.until,
  epoch = CASE WHEN l.owner = excluded.owner THEN l.epoch ELSE l.epoch + 1 END
WHERE l.owner = excluded.owner OR l.until < now()`

/** Takes or renews the named lease for this owner; false while another has it. */
export async function takeLease(pool: Pool, name: string, owner: string): Promise<boolean> {
  const { rowCount } = await pool.query({ name: 'take_lease', text: TAKE, values: [name, owner] })
  return rowCount === 1
}

/** Lets the next worker take it at once. */
export async function dropLease(pool: Pool, name: string, owner: string): Promise<void> {
  await pool.query('DELETE FROM lease WHERE name = $1 AND owner = $2', [name, owner])
}
