import type { AttemptReplica, AttemptRole, AttemptSpec } from './attempt.ts'
import type { JobSpec, RoleSpec } from './job-spec.ts'
import { expandMacros, type MacroValues } from './macros.ts'
import type { Resolution } from './mount-plan.ts'

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
  const drives = JSON.stringify(resolutions.flatMap(driveOf))
  const replicas = Array.from({ length: role.replicas }, (_, index) =>
    replicaOf(role, { job_id: facts.jobId, attempt: facts.attempt, role: name, replica: index }, drives),
  )
  return { name, image, entrypoint, resources, workingDir, user, mounts: resolutions.map(({ plan }) => plan), replicas }
}

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

/** An entry of BERTH_DRIVES. A device holds no data and is none. */
function driveOf({ mount, path, access }: Resolution): { name: string | null; path: string; mode: 'mount'; access: string }[] {
  if (mount.type === 'device') return []
  return [{ name: mount.type === 'tmpfs' ? null : mount.source, path, mode: 'mount', access }]
}
