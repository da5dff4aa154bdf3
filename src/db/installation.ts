import { randomBytes } from 'node:crypto'
import type { Pool } from 'pg'

/** 40 bits in lower-case base 32: short enough for every native name, and no two installations share a daemon by chance. */
const newInstallation = (): string => BigInt(`0x${randomBytes(5).toString('hex')}`).toString(32).padStart(8, '0')

/** The id of this installation: made with the database, and the same for every process that uses it. */
export const findInstallation = (pool: Pool): Promise<string> => keepSetting(pool, 'installation', newInstallation())

/** What signs the tokens of jobs, 256 bits; the same for every process too. */
export const findJobTokenKey = (pool: Pool): Promise<string> => keepSetting(pool, 'job_token_key', randomBytes(32).toString('base64'))

/** The value that was there first. */
async function keepSetting(pool: Pool, key: string, value: string): Promise<string> {
  await pool.query('INSERT INTO setting (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING', [key, value])
  const { rows } = await pool.query<{ value: string }>('SELECT value FROM setting WHERE key = $1', [key])
  return rows[0]?.value ?? value
}
