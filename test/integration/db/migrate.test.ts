import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { migrate as Migrate } from '../../../src/db/migrate.ts'
import { newerBerth } from '../../support/built-berth.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { eventually } from '../../support/eventually.ts'
import { requirePostgres } from '../../support/requirements.ts'

describe.skipIf(requirePostgres().missing)('a migration', () => {
  let database: TestDatabase
  let place: string
  let migrate: typeof Migrate
  beforeAll(async () => {
    database = await createTestDatabase()
    place = await mkdtemp(join(tmpdir(), 'berth-newer-'))
    const main = await newerBerth(place)
    migrate = ((await import(join(dirname(main), 'db/migrate.js'))) as { migrate: typeof Migrate }).migrate
  })
  afterAll(async () => {
    await database.drop()
    await rm(place, { recursive: true })
  })

  it('that meets others in a deadlock is begun again, and applied once', async () => {
    const { pool } = database
    const { rows } = await pool.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> '_prisma_migrations'`,
    )
    const [first, last] = [rows[0]?.name ?? '', rows.at(-1)?.name ?? '']
    const other = await pool.connect()
    // It waits for as long as it takes to be the one that stays.
    await other.query(`SET deadlock_timeout = '1min'; SET lock_timeout = 0; BEGIN; LOCK TABLE "${last}" IN ACCESS SHARE MODE`)
    const migrating = migrate(pool)
    const waits = 'SELECT FROM pg_locks JOIN pg_class ON pg_class.oid = relation WHERE NOT granted AND relname = $1'
    await eventually(
      async () => (await pool.query(waits, [last])).rowCount,
      (count) => count === 1,
    )
    await other.query(`LOCK TABLE "${first}" IN ACCESS SHARE MODE; COMMIT`)
    other.release(true)
    expect(await migrating).toEqual(['29991231235959_newer'])
    const book = await pool.query('SELECT finished_at FROM "_prisma_migrations" WHERE migration_name = $1', ['29991231235959_newer'])
    expect(book.rows).toEqual([{ finished_at: expect.any(Date) as Date }])
    expect(await migrate(pool)).toEqual([])
  })
})
