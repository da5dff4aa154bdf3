import type { DriveKind } from './drives/drive.ts'
import type { MountVia } from './mount-plan.ts'

/** A directory of the host that jobs may bind. `readOnly` roots can only be mounted with access `ro`. */
export interface BindRoot {
  readonly root: string
  readonly readOnly: boolean
}

/** A file system or bucket that the operator has mounted on the machines of a scheduler. */
export interface HostMount {
  /** Such as `nfs://files.example.org/export`, `efs://fs-12345678`, `fsx_lustre://fs-12345678`, `s3://bucket/prefix/`. */
  readonly source: string
  readonly hostPath: string
  readonly readOnly: boolean
}

/** A bucket, or a part of one, that the operator's rclone volume plugin reaches. */
export interface RcloneRemote {
  /** Such as `s3://bucket/prefix/`; `s3://` is every bucket. What lies below may be mounted. */
  readonly source: string
  /** Of the drives that are meant; null for those of the cloud itself. */
  readonly endpoint: string | null
  /** Name in the plugin's configuration. */
  readonly remote: string
}

/** Where mounts of a scheduler must lie whose `mountPaths` are `linked`. */
export const LINKED_MOUNT_ROOT = '/mnt/berth'

/** What one configured scheduler can do, as plain data; asked at admission and shown by `GET /v1/schedulers`. */
export interface Capabilities {
  /** Ways to make a mount, all that `render` can express. */
  readonly mountVia: readonly MountVia[]
  /** Kinds of drives whose files can be copied in and out. */
  readonly stages: readonly DriveKind[]
  /** Most that one mount may copy in; null for no bound. */
  readonly maxStageBytes: number | null
  /** Whether the live directory of a managed drive can be mounted: it is on the machine that runs the replicas. */
  readonly driveDirectories: boolean
  /** Where replicas reach Berth's API, without a slash at its end; null if they do not. */
  readonly apiUrl: string | null
  /** CSI drivers that the cluster has, such as `s3.csi.aws.com`; empty anywhere else. */
  readonly csiDrivers: readonly string[]
  /** Where drives of this source are mounted already on every machine of the scheduler, by the operator. */
  readonly hostMounts: readonly HostMount[]
  /** Buckets that an rclone volume plugin of the daemon reaches. */
  readonly rcloneRemotes: readonly RcloneRemote[]
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
  /** Most mounts of one role. */
  readonly maxMounts: number
  /** Most replicas of all roles of a job together. */
  readonly maxReplicas: number
}

export const RESOURCE_LIMITS = ['cpus', 'memoryMiB', 'shmMiB', 'gpus', 'pids'] as const
export type ResourceLimit = (typeof RESOURCE_LIMITS)[number]
