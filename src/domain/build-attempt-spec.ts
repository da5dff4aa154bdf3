import type { AttemptReplica, AttemptRole, AttemptSpec } from './attempt.ts'
import type { JobSpec, RoleSpec } from './job-spec.ts'
import { expandMacros, type MacroValues } from './macros.ts'
import type { MountPlan, Resolution } from './mount-plan.ts'
import type { Mount, MountMode } from './mount.ts'

/** What an attempt is made of: the stored job, the stored resolutions, and who and which try it is. */
export interface AttemptFacts {
  readonly installation: string
  readonly project: string
  readonly jobId: string
  readonly spec: JobSpec
  /** Of all roles, as `admit` gave them. */
  readonly resolutions: readonly Resolution[]
  readonly attemptId: string
  /** 1 for the first try. */
  readonly attempt: number
  readonly epoch: number
  /** For the mount at this place of `resolutions`, which is a reference. */
  readonly tokenOf: (place: number) => string
}

/** The attempt as a scheduler renders it: macros expanded for each replica, `BERTH_*` added, mounts as they were resolved. */
export function buildAttemptSpec(facts: AttemptFacts): AttemptSpec {
  const { installation, project, jobId, attemptId, attempt, epoch, spec } = facts
  const roles = spec.roles.map((role) => roleOf(role, facts))
  return { installation, project, jobId, jobName: spec.name, attemptId, attempt, epoch, graceSeconds: spec.graceSeconds, roles }
}

function roleOf(role: RoleSpec, facts: AttemptFacts): AttemptRole {
  const { name, image, entrypoint, resources, workingDir, user } = role
  const resolutions = facts.resolutions.filter((resolution) => resolution.role === name)
  const ofRole = { job_id: facts.jobId, attempt: facts.attempt, role: name, replica: 0, pathOf: pathsOf(resolutions) }
  const entries = facts.resolutions.flatMap((resolution, place) =>
    resolution.role === name ? driveOf(resolution, { ...facts, place, ofRole }) : [],
  )
  const drives = JSON.stringify(entries)
  const replicas = Array.from({ length: role.replicas }, (_, index) =>
    replicaOf(role, { ...ofRole, replica: index }, drives),
  )
  const mounts = resolutions.map(({ plan }) => expandPlan(plan, ofRole))
  return { name, image, entrypoint, resources, workingDir, user, mounts, replicas }
}

const pathsOf =
  (resolutions: readonly Resolution[]): MacroValues['pathOf'] =>
  (name) =>
    resolutions.find(({ drive, plan }) => drive?.name === name && plan.via !== 'reference')?.path ?? null

const replicaOf = (role: RoleSpec, values: MacroValues, drives: string): AttemptReplica => ({
  index: values.replica,
  command: role.command.map((argument) => expandMacros(argument, values)),
  env: {
    ...Object.fromEntries(Object.entries(role.env).map(([name, value]) => [name, expandMacros(value, values)])),
    BERTH_JOB_ID: values.job_id,
    BERTH_ATTEMPT: String(values.attempt),
    BERTH_ROLE: values.role,
    BERTH_REPLICA: String(values.replica),
    BERTH_DRIVES: drives,
  },
})

interface DriveEntry {
  readonly name: string | null
  /** Null where nothing is in the file system. */
  readonly path: string | null
  readonly mode: Exclude<MountMode, 'auto'>
  readonly access: string
  /** Of a reference: where its objects are, the directory that the token is good for, and the token. */
  readonly url?: string
  readonly prefix?: string
  readonly token?: string
}

interface DrivePlace extends Pick<AttemptFacts, 'tokenOf'> {
  readonly place: number
  readonly ofRole: MacroValues
}

/** An entry of BERTH_DRIVES. A device holds no data and is none. */
function driveOf({ mount, path, access, plan, candidates, drive }: Resolution, at: DrivePlace): DriveEntry[] {
  if (mount.type === 'device') return []
  const mode = candidates.find(({ taken }) => taken)?.mode ?? 'mount'
  const name = drive === null ? plainName(mount) : drive.name
  if (plan.via !== 'reference') return [{ name, path, mode, access }]
  return [{ name, path: null, mode, access, url: plan.url, prefix: expandMacros(plan.prefix, at.ofRole), token: at.tokenOf(at.place) }]
}

const plainName = (mount: Mount): string | null => (mount.type === 'volume' || mount.type === 'bind' ? mount.source : null)

/** Macros in the sub-path of a drive that is mounted live; the path in the role has none. */
function expandPlan(plan: MountPlan, values: MacroValues): MountPlan {
  const expanded = Object.entries(plan).map(([name, value]) => [name, typeof value === 'string' ? expandMacros(value, values) : value])
  return Object.fromEntries(expanded) as MountPlan
}
