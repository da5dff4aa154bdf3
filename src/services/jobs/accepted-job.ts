import type { JobSpec } from '../../domain/job-spec.ts'
import type { JobView } from '../../domain/job-view.ts'
import type { Resolution } from '../../domain/mount-plan.ts'
import { Problem } from '../../domain/problem.ts'
import { IDEMPOTENCY_HOURS } from '../../db/statements/submit-job.ts'
import type { ServiceDeps } from '../service-deps.ts'

export interface AcceptedJob {
  readonly id: string
  readonly spec: JobSpec
  readonly resolutions: readonly Resolution[]
  readonly definition: { readonly name: string; readonly version: number } | null
  readonly retryOf: string | null
  readonly createdAt: Date
}

/** The answer to a submission: made of what never changes, so that it can be given again word for word. */
export function acceptedView({ id, spec, resolutions, definition, retryOf, createdAt }: AcceptedJob): JobView {
  const at = createdAt.toISOString()
  const queued = { state: 'queued', reason: null, detail: null } as const
  const roles = spec.roles.map(({ name }) => ({ name, replicas: [] }))
  return {
    id,
    name: spec.name,
    scheduler: spec.scheduler,
    ...queued,
    since: at,
    spec,
    definition,
    retryOf,
    labels: spec.labels,
    attempts: [{ number: 1, ...queued, roles, mounts: resolutions, startedAt: null, endedAt: null }],
    createdAt: at,
    startedAt: null,
    endedAt: null,
  }
}

interface KnownKey {
  readonly project: string
  readonly route: string
  readonly key: string
  readonly fingerprint: string
}

const FIND = `
SELECT k.fingerprint, j.id, j.spec, a.resolutions, j.definition_name, j.definition_version, j.retry_of AS "retryOf",
  j.created_at AS "createdAt"
FROM idempotency_key k JOIN job j ON j.id = k.job_id JOIN attempt a ON a.job_id = j.id AND a.number = 1
WHERE k.project_id = $1 AND k.route = $2 AND k.key = $3 AND k.created_at >= now() - interval '${IDEMPOTENCY_HOURS} hours'`

/**
 * The first answer that was given for this key, or null.
 *
 * @throws Problem `idempotency_key_reused` when the key came with another body
 */
export async function findAcceptedJob(deps: ServiceDeps, { project, route, key, fingerprint }: KnownKey): Promise<JobView | null> {
  type Row = AcceptedJob & { fingerprint: string; definition_name: string | null; definition_version: number | null }
  const { rows } = await deps.pool.query<Row>({ name: 'known_key', text: FIND, values: [project, route, key] })
  const row = rows[0]
  if (!row) return null
  if (row.fingerprint !== fingerprint) {
    throw new Problem(
      'idempotency_key_reused',
      `this Idempotency-Key came with another body within ${IDEMPOTENCY_HOURS} hours; use a new one`,
    )
  }
  const { definition_name: name, definition_version: version } = row
  return acceptedView({ ...row, definition: name !== null && version !== null ? { name, version } : null })
}
