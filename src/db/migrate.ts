import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { DatabaseError, type Pool, type PoolClient } from 'pg'

const MIGRATIONS = fileURLToPath(new URL('../../prisma/migrations', import.meta.url))

/** The advisory lock that Prisma's own migration engine takes, so that the two never apply at once. */
const LOCK = 72_707_369

/** `deadlock_detected` (PostgreSQL, appendix A). */
const DEADLOCK = '40P01'

/** A migration takes as long as it takes; node-postgres has no other way to say that for one query. */
const WITHOUT_END = { query_timeout: 2 ** 31 - 1 }

/** Prisma's own book-keeping table, so that `prisma migrate status` agrees with what was applied here. */
const BOOK = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  "id" VARCHAR(36) PRIMARY KEY NOT NULL,
  "checksum" VARCHAR(64) NOT NULL,
  "finished_at" TIMESTAMPTZ,
  "migration_name" VARCHAR(255) NOT NULL,
  "logs" TEXT,
  "rolled_back_at" TIMESTAMPTZ,
  "started_at" TIMESTAMPTZ NOT NULL DEFAULT now(),
  "applied_steps_count" INTEGER NOT NULL DEFAULT 0
)`

/**
 * Applies what is not applied yet of prisma/migrations, in order, as `prisma migrate deploy` would; processes that
 * start together wait for each other. Returns the names that were applied.
 *
 * @throws when an earlier migration is recorded as failed, or one fails now: nothing after it is tried.
 */
export async function migrate(pool: Pool): Promise<string[]> {
  const client = await pool.connect()
  try {
    await client.query('SET lock_timeout = 0; SET statement_timeout = 0')
    await client.query({ text: 'SELECT pg_advisory_lock($1)', values: [LOCK], ...WITHOUT_END })
    try {
      return await applyMissing(client)
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [LOCK])
    }
  } finally {
    client.release(true)
  }
}

async function applyMissing(client: PoolClient): Promise<string[]> {
  await client.query(BOOK)
  const { rows } = await client.query<{ migration_name: string; finished_at: Date | null }>(
    'SELECT migration_name, finished_at FROM "_prisma_migrations" WHERE rolled_back_at IS NULL',
  )
  const failed = rows.filter((row) => row.finished_at === null).map((row) => row.migration_name)
  if (failed.length > 0) throw new Error(`a migration failed earlier and must be resolved by hand: ${failed.join(', ')}`)
  const done = new Set(rows.map((row) => row.migration_name))
  const entries = await readdir(MIGRATIONS, { withFileTypes: true })
  const missing = entries.filter((entry) => entry.isDirectory() && !done.has(entry.name)).map((entry) => entry.name).sort()
  for (const name of missing) await applyPatiently(client, name)
  return missing
}

/** Those who work meanwhile may lock what it wants in another order. A deadlock undoes all of the migration, so it is begun again. */
async function applyPatiently(client: PoolClient, name: string): Promise<void> {
  for (let left = 10; ; left -= 1) {
    try {
      return await apply(client, name)
    } catch (error) {
      const isDeadlock = error instanceof Error && error.cause instanceof DatabaseError && error.cause.code === DEADLOCK
      if (!isDeadlock || left === 1) throw error
      await client.query('DELETE FROM "_prisma_migrations" WHERE migration_name = $1 AND finished_at IS NULL', [name])
    }
  }
}

async function apply(client: PoolClient, name: string): Promise<void> {
  const sql = await readFile(`${MIGRATIONS}/${name}/migration.sql`, 'utf8')
  const id = randomUUID()
  const checksum = createHash('sha256').update(sql).digest('hex')
  await client.query('INSERT INTO "_prisma_migrations" (id, checksum, migration_name) VALUES ($1, $2, $3)', [id, checksum, name])
  try {
    await client.query({ text: sql, ...WITHOUT_END })
  } catch (error) {
    await client.query('UPDATE "_prisma_migrations" SET logs = $2 WHERE id = $1', [id, String(error)])
    throw new Error(`migration ${name} failed`, { cause: error })
  }
  await client.query('UPDATE "_prisma_migrations" SET finished_at = now(), applied_steps_count = 1 WHERE id = $1', [id])
}
