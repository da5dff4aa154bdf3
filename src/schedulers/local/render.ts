import { join } from 'node:path'
import type { AttemptReplica, AttemptRole, AttemptSpec } from '../../domain/attempt.ts'
import { LINKED_MOUNT_ROOT } from '../../domain/capabilities.ts'
import type { Resources } from '../../domain/job-spec.ts'
import { slug } from '../../domain/names.ts'
import type { Isolation, LocalPlace } from './local-place.ts'
import { localMount } from './mounts.ts'
import type { LocalMount } from './mounts.ts'

/** What a local scheduler is asked: one supervisor for each replica. */
export interface LocalRequest {
  readonly installation: string
  readonly attemptId: string
  readonly isolation: Isolation
  readonly replicas: readonly LocalReplica[]
}

export interface LocalReplica {
  readonly role: string
  readonly index: number
  /** Its folder, relative to the scheduler's root. The same for every epoch: its `started` file is the fence. */
  readonly directory: string
  readonly argv: readonly string[]
  /** All of it; nothing of the worker's own is added. */
  readonly env: Readonly<Record<string, string>>
  /** Where the replica sees its own work directory, which is also its HOME. */
  readonly workDirectory: string
  /**
   * Where it starts; null is the work directory. What does not exist there is made: inside of a mount as a folder of
   * it, elsewhere as another name of the work directory (bubblewrap) or as a folder of the machine (links).
   */
  readonly workingDir: string | null
  readonly user: string | null
  readonly mounts: readonly LocalMount[]
  readonly limits: Pick<Resources, 'cpus' | 'memoryMiB' | 'pids' | 'shmMiB'>
}

/** Where a replica in a sandbox sees its work directory. */
export const SANDBOX_WORK_DIRECTORY = '/berth/work'

/** What of the scheduler's own settings a request depends on. */
type RenderPlace = Pick<LocalPlace, 'root' | 'isolation'> & { readonly driveRoot: string | null }

/** Pure. Throws `rejected` for a mount that admission should have refused. */
export function render(spec: AttemptSpec, place: RenderPlace): LocalRequest {
  const { installation, attemptId } = spec
  const replicas = spec.roles.flatMap((role) => role.replicas.map((replica) => renderReplica({ attemptId, role, replica }, place)))
  return { installation, attemptId, isolation: place.isolation, replicas }
}

interface ReplicaSource {
  readonly attemptId: string
  readonly role: AttemptRole
  readonly replica: AttemptReplica
}

function renderReplica(source: ReplicaSource, place: RenderPlace): LocalReplica {
  const { attemptId, role, replica } = source
  const { cpus, memoryMiB, pids, shmMiB } = role.resources
  const directory = `attempts/${attemptId}/${slug(role.name, 100)}-${replica.index}`
  const own = place.isolation === 'bubblewrap' ? IN_SANDBOX : besideTheMachine(join(place.root, directory))
  return {
    role: role.name,
    index: replica.index,
    directory,
    argv: [...(role.entrypoint ?? []), ...replica.command],
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: own.work,
      TMPDIR: own.temporary,
      BERTH_MOUNT_ROOT: own.mounts,
      ...replica.env,
      ...(place.isolation === 'links' && { [LINKED_REPLICA_VARIABLE]: linkedReplicaValue(attemptId, role.name, replica.index) }),
    },
    workDirectory: own.work,
    workingDir: role.workingDir,
    user: role.user,
    mounts: role.mounts.flatMap((plan) => localMount(plan, { ...place, folder: join(place.root, directory) })),
    limits: { cpus, memoryMiB, pids, shmMiB },
  }
}

/** Marks all processes of a replica that is not in a sandbox, so that they are found wherever they go. */
export const LINKED_REPLICA_VARIABLE = 'BERTH_LOCAL_REPLICA'
export const linkedReplicaValue = (attemptId: string, role: string, index: number): string => `${attemptId}/${role}/${index}`

const IN_SANDBOX = { work: SANDBOX_WORK_DIRECTORY, temporary: '/tmp', mounts: LINKED_MOUNT_ROOT }

const besideTheMachine = (folder: string): typeof IN_SANDBOX =>
  ({ work: join(folder, 'work'), temporary: join(folder, 'tmp'), mounts: join(folder, 'work', LINKED_MOUNT_ROOT) })
