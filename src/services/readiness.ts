import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { ServiceDeps } from './service-deps.ts'

const DEADLINE_MS = 2_000

/**
 * Whether requests can be served: the database answers within 2 s. Queue and schedulers may be away, since no
 * request needs them.
 */
export async function isReady({ db }: Pick<ServiceDeps, 'db'>): Promise<boolean> {
  const deadline = new AbortController()
  const answer = sql`SELECT 1`.execute(db).then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([answer, delay(DEADLINE_MS, false, { signal: deadline.signal })])
  } finally {
    deadline.abort()
  }
}
