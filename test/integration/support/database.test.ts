import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { requirePostgres } from '../../support/requirements.ts'

const postgres = requirePostgres()

describe.skipIf(postgres.missing)('a test database', () => {
  let first: TestDatabase
  let second: TestDatabase

  beforeAll(async () => {
    ;[first, second] = await Promise.all([createTestDatabase(), createTestDatabase()])
  })
  afterAll(() => Promise.all([first.drop(), second.drop()]))

  it('is migrated', async () => {
    const { rows } = await first.pool.query<{ id: string }>('SELECT id FROM project')
    expect(rows).toContainEqual({ id: 'default' })
  })

  it('shares nothing with another one', async () => {
    await first.pool.query(`INSERT INTO setting (key, value) VALUES ('a', 'b')`)
    const { rows } = await second.pool.query('SELECT * FROM setting WHERE key = $1', ['a'])
    expect(rows).toEqual([])
  })
})
