import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { pino } from 'pino'
import { migrate } from '../../src/db/migrate.ts'
import { createPool } from '../../src/db/pool.ts'
import { requirePostgres } from './requirements.ts'

export interface TestDatabase {
  readonly url: string
  readonly pool: pg.Pool
  /** Closes the pool and removes the database, ending whoever is still connected. */
  drop(): Promise<void>
}

const MIGRATIONS = fileURLToPath(new URL('../../prisma/migrations', import.meta.url))

/** Test files that start together wait for the one that makes the template. */
const TEMPLATE_LOCK = 72_707_370

/**
 * A migrated, empty database of its own for a test file, copied from a template that is made once for each state of
 * prisma/migrations. With BERTH_TEST_KEEP set it outlives `drop`, to be looked at.
 */
export async function createTestDatabase(server = requirePostgres().url): Promise<TestDatabase> {
  const name = `berth_test_${randomBytes(6).toString('hex')}`
  await withAdmin(server, async (admin) => {
    await admin.query('SELECT pg_advisory_lock($1)', [TEMPLATE_LOCK])
    await admin.query(`CREATE DATABASE ${name} TEMPLATE ${await prepareTemplate(admin, server)}`)
  })
  const url = databaseUrl(server, name)
  const pool = createPool(url, 10, pino({ level: 'silent' }))
  return {
    url,
    pool,
    async drop() {
      await pool.end()
      if (process.env['BERTH_TEST_KEEP']) return console.warn(`kept: ${name}`)
      await withAdmin(server, (admin) => admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`))
    },
  }
}

/** A connection of the superuser, whose end also gives back any advisory lock. */
async function withAdmin(server: string, act: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: server })
  await admin.connect()
  try {
    await act(admin)
  } finally {
    await admin.end()
  }
}

async function prepareTemplate(admin: pg.Client, server: string): Promise<string> {
  const template = `berth_template_${migrationsHash()}`
  const { rowCount } = await admin.query('SELECT 1 FROM pg_database WHERE datname = $1', [template])
  if (rowCount === 1) return template
  const draft = `${template}_draft`
  await admin.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`)
  await admin.query(`CREATE DATABASE ${draft}`)
  const pool = new pg.Pool({ connectionString: databaseUrl(server, draft), max: 2 })
  try {
    await migrate(pool)
  } finally {
    await pool.end()
  }
  await admin.query(`ALTER DATABASE ${draft} RENAME TO ${template}`)
  return template
}

function migrationsHash(): string {
  const hash = createHash('sha256')
  const files = readdirSync(MIGRATIONS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.sql'))
  for (const file of files.sort()) hash.update(file).update(readFileSync(`${MIGRATIONS}/${file}`))
  return hash.digest('hex').slice(0, 16)
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
