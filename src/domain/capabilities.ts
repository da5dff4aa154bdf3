import type { MountVia } from './mount-plan.ts'

/** A directory of the host that jobs may bind. `readOnly` roots can only be mounted with access `ro`. */
export interface BindRoot {
  readonly root: string
  readonly readOnly: boolean
}

/** Where mounts of a scheduler must lie whose `mountPaths` are `linked`. */
export const LINKED_MOUNT_ROOT = '/mnt/berth'

/** What one configured scheduler can do, as plain data; asked at admission and shown by `GET /v1/schedulers`. */
export interface Capabilities {
  /** Ways to make a mount, all that `render` can express. */
  readonly mountVia: readonly MountVia[]
  /** Directories that bind mounts may come from; empty refuses every bind. */
  readonly bindRoots: readonly BindRoot[]
  /** Host devices that device mounts may name, by exact path; empty refuses every device. */
  readonly devices: readonly string[]
  /** Whether roles must name an image, or may not. */
  readonly image: 'required' | 'unsupported'
  /** Whether `entrypoint` means anything (the image's own is replaced). */
  readonly entrypoint: boolean
  /** Whether a role may choose the user it runs as. */
  readonly user: boolean
  /**
   * Whether each mount path is honoured exactly. `linked`: only paths below `LINKED_MOUNT_ROOT`, with access `rw`, can be
   * given, and the replica finds them below $BERTH_MOUNT_ROOT instead; every other mount is refused.
   */
  readonly mountPaths: 'exact' | 'linked'
  /** Limits that are enforced; a request for one that is not listed is refused. */
  readonly limits: readonly ResourceLimit[]
  /** Whether replicas find each other by host name. */
  readonly replicaHostNames: boolean
  /** Most replicas of all roles of a job together. */
  readonly maxReplicas: number
}

export const RESOURCE_LIMITS = ['cpus', 'memoryMiB', 'shmMiB', 'gpus', 'pids'] as const
export type ResourceLimit = (typeof RESOURCE_LIMITS)[number]
