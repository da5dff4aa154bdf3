import type { JobRequest } from '../../domain/job-request.ts'
import { admitJob } from './admit-job.ts'
import { storeJob, type StoredJob, type Storing } from './store-job.ts'
import type { ServiceDeps } from '../service-deps.ts'

export interface Submission extends Pick<Storing, 'project' | 'idempotency'> {
  readonly request: JobRequest
}

/** Accepts a job. @throws Problem as `admitJob` and `storeJob` */
export function submitJob(deps: ServiceDeps, { project, request, idempotency }: Submission): Promise<StoredJob> {
  return storeJob(deps, { project, route: 'POST /v1/jobs', admit: () => admitJob(deps, project, request), retryOf: null, idempotency })
}
