import type { Fault } from '../../domain/fault.ts'
import { nearestName } from '../../domain/nearest-name.ts'
import type { ServiceDeps } from '../service-deps.ts'

/** A fault for each name of a job's `webhooks` that is none. */
export async function unknownWebhooks(deps: ServiceDeps, project: string, names: readonly string[]): Promise<Fault[]> {
  if (names.length === 0) return []
  const rows = await deps.db.selectFrom('webhook').select('name').where('project_id', '=', project).execute()
  const known = rows.map(({ name }) => name)
  return names.flatMap((name, index) => {
    if (known.includes(name)) return []
    const meant = nearestName(name, known)
    const hint = meant === null ? 'see `GET /v1/webhooks`' : `did you mean "${meant}"?`
    return [{ pointer: `/webhooks/${index}`, code: 'unknown_webhook', detail: `there is no webhook "${name}"; ${hint}` }]
  })
}
