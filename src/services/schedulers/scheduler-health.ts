import type { ServiceDeps } from '../service-deps.ts'

const RECORD = `
INSERT INTO scheduler_health (name, healthy, detail, checked_at) VALUES ($1, $2, $3, now())
ON CONFLICT (name) DO UPDATE SET healthy = excluded.healthy, detail = excluded.detail, checked_at = now()`

/** Keeps what a worker last saw of a scheduler. @param seen its own line when it is well, or what is wrong. */
export async function recordHealth(deps: ServiceDeps, name: string, seen: string | Error): Promise<void> {
  const healthy = typeof seen === 'string'
  await deps.pool.query(RECORD, [name, healthy, healthy ? seen : seen.message])
}
