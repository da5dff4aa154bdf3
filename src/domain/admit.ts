import { LINKED_MOUNT_ROOT, RESOURCE_LIMITS, type Capabilities } from './capabilities.ts'
import { jsonPointer, type Fault, type Flaw } from './fault.ts'
import type { JobSpec, RoleSpec } from './job-spec.ts'
import type { Resolution } from './mount-plan.ts'
import { isUnder } from './mount-path.ts'
import type { Mount } from './mount.ts'
import type { MountPointers } from './normalise-job.ts'
import { resolveMount, type ResolvedMount } from './resolve-mount.ts'
import type { SchedulerKind } from './scheduler-kind.ts'

export interface SchedulerFacts {
  readonly name: string
  readonly kind: SchedulerKind
  readonly capabilities: Capabilities
}

export interface AdmitOptions {
  /** Where the client wrote each mount; without it a mount is at `/roles/i/mounts/j`. */
  readonly mountPointers?: MountPointers
  /** Other schedulers, to name those that could take the job as it is. */
  readonly others?: readonly SchedulerFacts[]
}

export type Admission =
  | { readonly ok: true; readonly resolutions: readonly Resolution[] }
  | { readonly ok: false; readonly faults: readonly Fault[]; readonly alternatives: readonly string[] }

/** Whether a scheduler can do all that a job asks for. Pure and total; gathers every reason against it, and resolves every mount. */
export function admit(spec: JobSpec, scheduler: SchedulerFacts, { mountPointers, others = [] }: AdmitOptions = {}): Admission {
  const mounts = spec.roles.flatMap((role, index) => resolveRole(role, scheduler.capabilities, { index, pointers: mountPointers?.[index] }))
  const faults = [
    ...replicaFaults(spec, scheduler),
    ...spec.roles.flatMap((role, index) => roleReasons(role, index, scheduler)),
    ...mounts.flatMap(({ resolved, pointer, linkFlaws }) =>
      [...(resolved.ok ? [] : resolved.reasons), ...linkFlaws].map((flaw) => ({ pointer, ...flaw })),
    ),
  ]
  if (faults.length === 0) return { ok: true, resolutions: mounts.flatMap(resolutionOf) }
  const alternatives = others.filter((other) => admit(spec, other).ok).map(({ name }) => name)
  return { ok: false, faults: faults.map((fault) => withAlternatives(fault, alternatives)), alternatives }
}

interface ResolvedOfRole {
  readonly role: string
  readonly mount: Mount
  readonly pointer: string
  readonly resolved: ResolvedMount
  readonly linkFlaws: readonly Flaw[]
}

interface Place {
  readonly index: number
  readonly pointers: readonly string[] | undefined
}

const resolveRole = (role: RoleSpec, capabilities: Capabilities, { index, pointers }: Place): ResolvedOfRole[] =>
  role.mounts.map((mount, at) => ({
    role: role.name,
    mount,
    pointer: pointers?.[at] ?? jsonPointer(['roles', index, 'mounts', at]),
    resolved: resolveMount(mount, capabilities),
    linkFlaws: capabilities.mountPaths === 'linked' ? flawsOfLink(mount) : [],
  }))

/** A link stands for the mount: it can only lie in the directory made for links, and cannot keep anybody from writing. */
function flawsOfLink(mount: Mount): Flaw[] {
  const { path } = mount
  const flaws: Flaw[] = []
  if (!isUnder(LINKED_MOUNT_ROOT, path)) {
    const detail = `this scheduler can only mount below ${LINKED_MOUNT_ROOT}, as links that $BERTH_MOUNT_ROOT leads to: "${path}" is not`
    flaws.push({ code: 'mount_path_unsupported', detail })
  }
  if (mount.type !== 'device' && mount.access === 'ro') {
    const detail = `this scheduler mounts by links, which cannot keep "${path}" from being written: ask for access "rw"`
    flaws.push({ code: 'read_only_unsupported', detail })
  }
  return flaws
}

function replicaFaults(spec: JobSpec, { name, capabilities: { maxReplicas } }: SchedulerFacts): Fault[] {
  const replicas = spec.roles.reduce((sum, role) => sum + role.replicas, 0)
  if (replicas <= maxReplicas) return []
  const detail = `${replicas} replicas of all roles are too many: "${name}" takes at most ${maxReplicas} in one job`
  return [{ pointer: '/roles', code: 'too_many_replicas', detail }]
}

function roleReasons(role: RoleSpec, index: number, { name, capabilities }: SchedulerFacts): Fault[] {
  const faults: Fault[] = []
  const refuse = (field: string, code: string, detail: string): void => {
    faults.push({ pointer: jsonPointer(['roles', index, ...field.split('.')]), code, detail: `"${name}" ${detail}` })
  }
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

const resolutionOf = ({ role, mount, resolved }: ResolvedOfRole): Resolution[] => {
  if (!resolved.ok) return []
  const { plan, candidates } = resolved
  return [{ role, path: mount.path, access: accessOf(mount), mount, plan, candidates }]
}

/** A device is written to if its permissions say so. */
const accessOf = (mount: Mount): Resolution['access'] =>
  mount.type === 'device' ? (mount.permissions.includes('w') ? 'rw' : 'ro') : mount.access

const withAlternatives = (fault: Fault, names: readonly string[]): Fault =>
  names.length === 0
    ? fault
    : { ...fault, detail: `${fault.detail}; as it is, the job could go to ${names.map((name) => `"${name}"`).join(' or ')}` }
