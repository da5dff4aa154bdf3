import { crashPoint } from '../../crash-point.ts'
import { newId } from '../../domain/id.ts'
import type { JobView } from '../../domain/job-view.ts'
import { Problem } from '../../domain/problem.ts'
import { insertJob } from '../../db/statements/submit-job.ts'
import { acceptedView, findAcceptedJob } from './accepted-job.ts'
import type { AdmittedJob } from './admit-job.ts'
import type { ServiceDeps } from '../service-deps.ts'

const LOCK_NOT_AVAILABLE = '55P03'

export interface Storing {
  readonly project: string
  /** What idempotency keys are kept apart by. */
  readonly route: string
  /** Not asked for a request that was answered before. */
  readonly admit: () => Promise<AdmittedJob>
  /** The ended job that it does again. */
  readonly retryOf: string | null
  /** `fingerprint`: of the body, so that a key with another body is refused. */
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | null
}

export interface StoredJob {
  readonly job: JobView
  /** It is the first answer again: the idempotency key is known. */
  readonly replayed: boolean
}

/**
 * Stores a job: one statement, after which it cannot be lost. Neither the queue nor a scheduler is touched.
 *
 * @throws Problem as `admit`; `idempotency_key_reused`, `idempotency_in_progress`
 */
export async function storeJob(deps: ServiceDeps, storing: Storing): Promise<StoredJob> {
  const { project, route, retryOf, idempotency } = storing
  if (idempotency) {
    const earlier = await findAcceptedJob(deps, { project, route, ...idempotency })
    if (earlier) return { job: earlier, replayed: true }
  }
  const { spec, resolutions, definition } = await storing.admit()
  const job = { id: newId('job'), spec, resolutions, definition, retryOf }
  crashPoint('submit_job.before')
  const accepted = await insertJob(deps.pool, {
    id: job.id,
    attemptId: newId('att'),
    project,
    name: spec.name,
    scheduler: spec.scheduler,
    spec: JSON.stringify(spec),
    labels: JSON.stringify(spec.labels),
    resolutions: JSON.stringify(resolutions),
    definition,
    queueTimeoutSeconds: spec.queueTimeoutSeconds,
    retryOf,
    idempotency: idempotency && { route, ...idempotency },
  }).catch((error: unknown) => {
    throw isLockTimeout(error)
      ? new Problem('idempotency_in_progress', 'the first request with this key is still being stored', { retryAfterSeconds: 1 })
      : error
  })
  crashPoint('submit_job.after')
  if (accepted === null) return replay(deps, storing)
  deps.signals.notify('due')
  if (accepted.sent) deps.signals.notify('webhooks')
  return { job: acceptedView({ ...job, createdAt: accepted.createdAt }), replayed: false }
}

/** Another request with the same key was stored while ours was admitted. */
async function replay(deps: ServiceDeps, { project, route, idempotency }: Storing): Promise<StoredJob> {
  const earlier = idempotency && (await findAcceptedJob(deps, { project, route, ...idempotency }))
  if (!earlier)
    throw new Problem('idempotency_in_progress', 'the first request with this key is not answered yet', { retryAfterSeconds: 1 })
  return { job: earlier, replayed: true }
}

const isLockTimeout = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE
