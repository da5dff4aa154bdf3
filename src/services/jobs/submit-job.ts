import { crashPoint } from '../../crash-point.ts'
import { newId } from '../../domain/id.ts'
import type { JobRequest } from '../../domain/job-request.ts'
import type { JobView } from '../../domain/job-view.ts'
import { Problem } from '../../domain/problem.ts'
import { insertJob } from '../../db/statements/submit-job.ts'
import { acceptedView, findAcceptedJob } from './accepted-job.ts'
import { admitJob } from './admit-job.ts'
import type { ServiceDeps } from '../service-deps.ts'

const ROUTE = 'POST /v1/jobs'
const LOCK_NOT_AVAILABLE = '55P03'

export interface Submission {
  readonly project: string
  readonly request: JobRequest
  /** `fingerprint`: of the body, so that a key with another body is refused. */
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | null
}

/**
 * Accepts a job: one statement, after which it cannot be lost. Neither the queue nor a scheduler is touched.
 *
 * @returns `replayed` with the first answer again when the idempotency key is known
 * @throws Problem as `admitJob`; `idempotency_key_reused`, `idempotency_in_progress`
 */
export async function submitJob(deps: ServiceDeps, submission: Submission): Promise<{ job: JobView; replayed: boolean }> {
  const { project, idempotency } = submission
  if (idempotency) {
    const earlier = await findAcceptedJob(deps, { project, route: ROUTE, ...idempotency })
    if (earlier) return { job: earlier, replayed: true }
  }
  const { spec, resolutions, definition } = await admitJob(deps, project, submission.request)
  const job = { id: newId('job'), spec, resolutions, definition }
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
    idempotency: idempotency && { route: ROUTE, ...idempotency },
  }).catch((error: unknown) => {
    throw isLockTimeout(error)
      ? new Problem('idempotency_in_progress', 'the first request with this key is still being stored', { retryAfterSeconds: 1 })
      : error
  })
  crashPoint('submit_job.after')
  if (accepted === null) return replay(deps, submission)
  deps.signals.notify('due')
  if (accepted.sent) deps.signals.notify('webhooks')
  return { job: acceptedView({ ...job, createdAt: accepted.createdAt }), replayed: false }
}

/** Another request with the same key was stored while ours was admitted. */
async function replay(deps: ServiceDeps, { project, idempotency }: Submission): Promise<{ job: JobView; replayed: boolean }> {
  const earlier = idempotency && (await findAcceptedJob(deps, { project, route: ROUTE, ...idempotency }))
  if (!earlier)
    throw new Problem('idempotency_in_progress', 'the first request with this key is not answered yet', { retryAfterSeconds: 1 })
  return { job: earlier, replayed: true }
}

const isLockTimeout = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === LOCK_NOT_AVAILABLE
