import { isTerminal } from '../../domain/job-state.ts'
import { Problem } from '../../domain/problem.ts'
import { admitSpec } from './admit-job.ts'
import { getJob } from './get-job.ts'
import { storeJob, type StoredJob, type Storing } from './store-job.ts'
import type { ServiceDeps } from '../service-deps.ts'

export interface Retry extends Pick<Storing, 'project' | 'idempotency'> {
  readonly id: string
}

/**
 * Does an ended job again, as a new one that points to it: asked for in the same words, resolved anew.
 *
 * @throws Problem `not_found`; `wrong_state` while it has not ended; as `admitSpec` and `storeJob`
 */
export async function retryJob(deps: ServiceDeps, { project, id, idempotency }: Retry): Promise<StoredJob> {
  const { state, spec, definition } = await getJob(deps, { project, id })
  if (!isTerminal(state)) {
    throw new Problem('wrong_state', `The job is ${state}; only one that has ended can be done again. \`retries\` are for attempts.`)
  }
  const mountPointers = spec.roles.map(({ mounts }, role) => mounts.map((_, mount) => `/spec/roles/${role}/mounts/${mount}`))
  const admit = async () => ({ ...(await admitSpec(deps, project, { spec, mountPointers, placed: (faults) => faults })), definition })
  return storeJob(deps, { project, route: `POST /v1/jobs/${id}/retry`, admit, retryOf: id, idempotency })
}
