import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Logger } from 'pino'
import type { DB } from './schema.ts'

const INT8 = 20

/** Limits of every session: a stuck statement, lock or transaction ends by itself (docs/reliability.md). */
const SESSION = {
  statement_timeout: 10_000,
  lock_timeout: 3_000,
  idle_in_transaction_session_timeout: 15_000,
} as const

/**
 * How long an answer is waited for here: a little longer than any statement may take there. A database that says nothing more,
 * without a word of its connections, would else hold whoever asked it for hours.
 */
export const ANSWER_MS = 11_000

/** @param max connections of this process. A wait for one fails after 3 s rather than never. */
export function createPool(connectionString: string, max: number, log: Logger): pg.Pool {
  const types = new pg.TypeOverrides()
  types.setTypeParser(INT8, Number)
  const pool = new pg.Pool({
    connectionString,
    max,
    types,
    connectionTimeoutMillis: 3_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    application_name: 'berth',
    query_timeout: ANSWER_MS,
    ...SESSION,
  })
  pool.on('error', (error) => log.warn({ err: error }, 'a database connection broke'))
  // The pool listens to idle connections only: one that breaks while it is lent, between two statements, would end the process.
  pool.on('connect', (client) => client.on('error', (error) => log.debug({ err: error }, 'a database connection broke in use')))
  return pool
}

/** Typed queries over the same pool. Ending the pool is the caller's. */
export const createDb = (pool: pg.Pool): Kysely<DB> => new Kysely<DB>({ dialect: new PostgresDialect({ pool }) })
