import { admit } from '../../domain/admit.ts'
import type { Fault } from '../../domain/fault.ts'
import { jobOfDefinition, type JobRequest } from '../../domain/job-request.ts'
import type { JobSpec } from '../../domain/job-spec.ts'
import type { Resolution } from '../../domain/mount-plan.ts'
import { normaliseJob, type MountPointers } from '../../domain/normalise-job.ts'
import { Problem } from '../../domain/problem.ts'
import type { Scheduler } from '../../schedulers/scheduler.ts'
import { resolveDefinition } from '../definitions/definitions.ts'
import { findDrives } from '../drives/find-drives.ts'
import { unknownWebhooks } from '../webhooks/unknown-webhooks.ts'
import type { ServiceDeps } from '../service-deps.ts'

export interface AdmittedJob {
  readonly spec: JobSpec
  readonly resolutions: readonly Resolution[]
  readonly scheduler: Scheduler
  readonly definition: { readonly name: string; readonly version: number } | null
}

/**
 * What a request would run, before anything is stored: definition looked up, defaults filled in, every mount resolved.
 *
 * @throws Problem `invalid_request` or `job_refused` with every reason at once; `not_found`, `definition_retired`
 */
export async function admitJob(deps: ServiceDeps, project: string, request: JobRequest): Promise<AdmittedJob> {
  const { body, definition } = await wholeJob(deps, project, request)
  const placed = (faults: readonly Fault[]): readonly Fault[] => (definition === null ? faults : faults.map(inDefinition(definition)))
  const normalised = normaliseJob(body)
  if (!normalised.ok) throw new Problem('invalid_request', 'the job has faults; each is listed', { errors: placed(normalised.faults) })
  return { ...(await admitSpec(deps, project, { ...normalised, placed })), definition }
}

interface Admission {
  readonly spec: JobSpec
  readonly mountPointers: MountPointers
  /** Says of faults of the spec where they stand in the request. */
  readonly placed: (faults: readonly Fault[]) => readonly Fault[]
}

/** What a job would run as that is normalised already. @throws Problem as `admitJob` */
export async function admitSpec(
  deps: ServiceDeps,
  project: string,
  { spec, mountPointers, placed }: Admission,
): Promise<Omit<AdmittedJob, 'definition'>> {
  const unknown = await unknownWebhooks(deps, project, spec.webhooks)
  if (unknown.length > 0) throw new Problem('invalid_request', 'the job names webhooks that are not there', { errors: placed(unknown) })
  const scheduler = deps.schedulers.get(spec.scheduler)
  if (!scheduler) {
    const fault = unknownScheduler(deps, spec.scheduler)
    throw new Problem('invalid_request', fault.detail, { errors: placed([fault]) })
  }
  const others = [...deps.schedulers].map(([name, { kind, capabilities }]) => ({ name, kind, capabilities }))
  const { kind, capabilities } = scheduler
  const admitted = admit(
    spec,
    { name: spec.scheduler, kind, capabilities },
    { mountPointers, others, drives: await findDrives(deps, project, spec) },
  )
  if (!admitted.ok) {
    throw new Problem('job_refused', `the scheduler ${spec.scheduler} cannot run this job as asked`, {
      errors: placed(admitted.faults),
    })
  }
  return { spec, resolutions: admitted.resolutions, scheduler }
}

async function wholeJob(deps: ServiceDeps, project: string, request: JobRequest) {
  if (!('definition' in request)) return { body: request, definition: null }
  const { name, version, job } = await resolveDefinition(deps, { project, name: request.definition, version: request.version })
  return { body: jobOfDefinition(job, request), definition: { name, version } }
}

function unknownScheduler(deps: ServiceDeps, name: string): Fault {
  const known = [...deps.schedulers.keys()].join(', ')
  return { pointer: '/scheduler', code: 'unknown_scheduler', detail: `there is no scheduler ${name}; configured here: ${known}` }
}

/** What the request itself says is labels and name; all else stands in the definition, which it only names. */
const inDefinition =
  ({ name, version }: { readonly name: string; readonly version: number }) =>
  ({ pointer, code, detail }: Fault): Fault =>
    pointer.startsWith('/labels') || pointer.startsWith('/name')
      ? { pointer, code, detail }
      : { pointer: '/definition', code, detail: `version ${version} of ${name}, at ${pointer}: ${detail}` }
