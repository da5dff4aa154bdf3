import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'

/** 40 bits in lower-case base 32: short enough for every native name, and no two installations share a daemon by chance. */
const newInstallation = (): string => BigInt(`0x${randomBytes(5).toString('hex')}`).toString(32).padStart(8, '0')

/** The id of this installation: made with the database, and the same for every process that uses it. */
export async function findInstallation(pool: Pool): Promise<string> {
  await pool.query(`INSERT INTO setting (key, value) VALUES ('installation', $1) ON CONFLICT DO NOTHING`, [newInstallation()])
  const { rows } = await pool.query<{ value: string }>(`SELECT value FROM setting WHERE key = 'installation'`)
  return rows[0]?.value ?? ''
}
