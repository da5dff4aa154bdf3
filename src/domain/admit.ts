import { admitMounts, type Drives } from './admit-mounts.ts'
import { RESOURCE_LIMITS } from './capabilities.ts'
import { jsonPointer, type Fault } from './fault.ts'
import type { JobSpec, RoleSpec } from './job-spec.ts'
import type { Resolution } from './mount-plan.ts'
import type { MountPointers } from './normalise-job.ts'
import type { SchedulerFacts } from './scheduler-facts.ts'

export interface AdmitOptions {
  /** Where the client wrote each mount; without it a mount is at `/roles/i/mounts/j`. */
  readonly mountPointers?: MountPointers
  /** Other schedulers, to name those that could take the job as it is. */
  readonly others?: readonly SchedulerFacts[]
  /** Those that the job names. */
  readonly drives?: Drives
}

const NO_DRIVES: Drives = new Map()

export type Admission =
  | { readonly ok: true; readonly resolutions: readonly Resolution[] }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly alternatives: readonly string[] }

/** Whether a scheduler can do all that a job asks for. Pure and total; gathers every reason against it, and resolves every mount. */
export function admit(
  spec: JobSpec,
  scheduler: SchedulerFacts,
  { mountPointers, others = [], drives = NO_DRIVES }: AdmitOptions = {},
): Admission {
  const mounts = admitMounts(spec, scheduler, { drives, pointers: mountPointers })
  const faults = [
    ...replicaFaults(spec, scheduler),
    ...spec.roles.flatMap((role, index) => roleReasons(role, index, scheduler)),
    ...mounts.faults,
  ]
  if (faults.length === 0) return { ok: true, resolutions: mounts.resolutions }
  const alternatives = others.filter((other) => admit(spec, other, { drives }).ok).map(({ name }) => name)
  return { ok: false, faults: faults.map((fault) => withAlternatives(fault, alternatives)), alternatives }
}

function replicaFaults(spec: JobSpec, { name, capabilities: { maxReplicas } }: SchedulerFacts): Fault[] {
  const replicas = spec.roles.reduce((sum, role) => sum + role.replicas, 0)
  if (replicas <= maxReplicas) return []
  const detail = `${replicas} replicas of all roles are too many: "${name}" takes at most ${maxReplicas} in one job`
  return [{ pointer: '/roles', code: 'too_many_replicas', detail }]
}

function roleReasons(role: RoleSpec, index: number, { name, capabilities }: SchedulerFacts): Fault[] {
  const faults: Fault[] = []
  const most = capabilities.maxMounts
  const refuse = (field: string, code: string, detail: string): void => {
    faults.push({ pointer: jsonPointer(['roles', index, ...field.split('.')]), code, detail: `"${name}" ${detail}` })
  }
  if (role.mounts.length > most)
    refuse('mounts', 'too_many', `takes at most ${most} mounts in a role, of both forms together, not ${role.mounts.length}`)
  if (capabilities.image === 'required' && role.image === null)
    refuse('image', 'image_required', 'needs an image for each role, such as "busybox"')
  if (capabilities.image === 'unsupported' && role.image !== null) refuse('image', 'image_unsupported', 'has no images: leave it out')
  if (!capabilities.entrypoint && role.entrypoint !== null) {
    refuse('entrypoint', 'entrypoint_unsupported', 'has no entrypoint to replace: put all of it into command')
  }
  if (!capabilities.user && role.user !== null) refuse('user', 'user_unsupported', 'cannot change the user: leave it out')
  const enforced = capabilities.limits.length === 0 ? 'it enforces none' : `it enforces ${capabilities.limits.join(', ')}`
  for (const limit of RESOURCE_LIMITS) {
    if (role.resources[limit] === null || capabilities.limits.includes(limit)) continue
    refuse(`resources.${limit}`, 'limit_unsupported', `cannot enforce ${limit}: leave it out; ${enforced}`)
  }
  return faults
}

const withAlternatives = (fault: Fault, names: readonly string[]): Fault =>
  names.length === 0
    ? fault
    : { ...fault, detail: `${fault.detail}; as it is, the job could go to ${names.map((name) => `"${name}"`).join(' or ')}` }
