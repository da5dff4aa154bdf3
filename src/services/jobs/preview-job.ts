import { buildAttemptSpec } from '../../domain/build-attempt-spec.ts'
import type { JobRequest } from '../../domain/job-request.ts'
import type { JobPreview } from '../../domain/job-view.ts'
import { admitJob } from './admit-job.ts'
import type { ServiceDeps } from '../service-deps.ts'

/** What stands for that which a submission would make. */
const PLACEHOLDER = {
  job: 'job_00000000000000000000000000',
  attempt: 'att_00000000000000000000000000',
  token: 'made-for-each-attempt',
} as const

/**
 * What submitting would ask of the scheduler, in its own form. Nothing is stored and nobody is called.
 *
 * @throws Problem as a submission would
 */
export async function previewJob(deps: ServiceDeps, { project, request }: { project: string; request: JobRequest }): Promise<JobPreview> {
  const { spec, resolutions, scheduler } = await admitJob(deps, project, request)
  const attempt = buildAttemptSpec({
    installation: deps.installation,
    project,
    jobId: PLACEHOLDER.job,
    spec,
    resolutions,
    attemptId: PLACEHOLDER.attempt,
    attempt: 1,
    epoch: 1,
    tokenOf: () => PLACEHOLDER.token,
  })
  return { spec, mounts: resolutions, native: scheduler.render(attempt) }
}
