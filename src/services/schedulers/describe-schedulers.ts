import type { SchedulerView } from '../../domain/job-view.ts'
import type { ServiceDeps } from '../service-deps.ts'

/** Every configured scheduler, by name, with what a worker saw of it last. Asks no scheduler. */
export async function describeSchedulers({ db, schedulers }: ServiceDeps): Promise<SchedulerView[]> {
  const rows = await db.selectFrom('scheduler_health').selectAll().execute()
  const seen = new Map(
    rows.map(({ name, healthy, detail, checked_at }) => [name, { healthy, detail, checkedAt: checked_at.toISOString() }]),
  )
  return [...schedulers]
    .map(([name, { kind, capabilities }]) => ({ name, kind, capabilities, health: seen.get(name) ?? null }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
