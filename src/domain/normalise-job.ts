import { jsonPointer, type Fault, type Flaw } from './fault.ts'
import type { JobBody } from './job-body.ts'
import type { JobSpec, Resources, RoleSpec } from './job-spec.ts'
import { plainPath } from './mount-path.ts'
import { REQUEST_LIMITS } from './request-limits.ts'
import type { RoleBody } from './role-body.ts'
import { roleMounts, type PlacedMount } from './role-mounts.ts'

/** The job as it is stored, and for each mount of each role where the client wrote it; or everything that is wrong. */
export type NormalisedJob =
  | { readonly ok: true; readonly spec: JobSpec; readonly mountPointers: MountPointers }
  | { readonly ok: false; readonly faults: readonly Fault[] }

/** `[role][mount]`: JSON pointers into the body. */
export type MountPointers = readonly (readonly string[])[]

/** Fills in every default and turns mount strings into objects. Only a job made of several, such as of a definition, can have faults. */
export function normaliseJob(body: JobBody): NormalisedJob {
  const roles = body.roles.map(roleMounts)
  const faults = [...roles.flatMap(({ flaws }, index) => flaws.map((flaw) => faultOf(flaw, index))), ...labelFaults(body)]
  if (faults.length > 0) return { ok: false, faults }
  const mounts = roles.map((role) => role.mounts)
  const mountPointers = mounts.map((all, index) => all.map(({ at }) => jsonPointer(['roles', index, ...at])))
  return { ok: true, spec: specOf(body, mounts), mountPointers }
}

const faultOf = ({ path, code, detail }: Flaw & { readonly path: readonly PropertyKey[] }, role: number): Fault => ({
  pointer: jsonPointer(['roles', role, ...path]),
  code,
  detail,
})

const specOf = (body: JobBody, mounts: readonly (readonly PlacedMount[])[]): JobSpec => ({
  name: body.name ?? 'job',
  scheduler: body.scheduler,
  labels: body.labels ?? {},
  queueTimeoutSeconds: body.queueTimeoutSeconds ?? null,
  timeoutSeconds: body.timeoutSeconds ?? null,
  graceSeconds: body.graceSeconds ?? 10,
  retries: { max: body.retries?.max ?? 0, backoffSeconds: body.retries?.backoffSeconds ?? 10 },
  onReplicaFailure: body.onReplicaFailure ?? 'cancel_others',
  webhooks: [...new Set(body.webhooks)],
  roles: body.roles.map((role, index) => roleOf(role, mounts[index] ?? [])),
})

const roleOf = (role: RoleBody, mounts: readonly PlacedMount[]): RoleSpec => ({
  name: role.name ?? DEFAULT_ROLE,
  image: role.image ?? null,
  entrypoint: role.entrypoint ?? null,
  command: role.command,
  replicas: role.replicas ?? 1,
  env: role.env ?? {},
  resources: resourcesOf(role.resources ?? {}),
  workingDir: typeof role.workingDir === 'string' ? plainPath(role.workingDir) : null,
  user: role.user ?? null,
  mounts: mounts.map(({ mount }) => mount),
})

const DEFAULT_ROLE = 'main'

const resourcesOf = ({ cpus, memoryMiB, shmMiB, gpus, pids }: NonNullable<RoleBody['resources']>): Resources => ({
  cpus: cpus ?? null,
  memoryMiB: memoryMiB ?? null,
  shmMiB: shmMiB ?? null,
  gpus: gpus === 0 ? null : (gpus ?? null),
  pids: pids ?? null,
})

/** The labels of a job definition and those of its submission may be too many together. */
function labelFaults({ labels = {} }: JobBody): Fault[] {
  const count = Object.keys(labels).length
  return count <= REQUEST_LIMITS.labels
    ? []
    : [{ pointer: '/labels', code: 'too_many', detail: `must have at most ${REQUEST_LIMITS.labels} labels, not ${count}` }]
}
