import type { DriveAccess, DriveSnapshot } from './drives/drive.ts'
import type { Mount, MountMode } from './mount.ts'

/** How one mount will be made. A mount yields plans; a scheduler renders the `via`s that it lists in its capabilities. */
export type MountPlan =
  | { readonly via: 'named_volume'; readonly volume: string; readonly path: string; readonly readOnly: boolean }
  | { readonly via: 'host_path'; readonly hostPath: string; readonly path: string; readonly readOnly: boolean }
  | { readonly via: 'device'; readonly hostPath: string; readonly path: string; readonly permissions: string }
  | { readonly via: 'tmpfs'; readonly path: string; readonly sizeMiB: number | null; readonly readOnly: boolean }
  | ReferencePlan
  | StagedPlan
  | ScratchPlan
  | DriveDirectoryPlan
  | NfsPlan
  | RclonePlan
  | ClaimPlan
  | CsiPlan
  | EfsPlan
  | S3FilesPlan

/** Nothing in the file system: a reference and a token in the environment. */
export interface ReferencePlan {
  readonly via: 'reference'
  readonly path: string
  /** Of the drive's objects. */
  readonly url: string
  /** Directory of the drive that the token is for, without a slash at its end; empty for all of it. */
  readonly prefix: string
}

/** A directory of the attempt's own, filled before the start, taken out after the end, or both. */
export interface StagedPlan {
  readonly via: 'staged'
  readonly path: string
  readonly readOnly: boolean
  readonly direction: 'in' | 'out' | 'in_out'
  /** Whether what was staged may be kept on the node for the next job that wants the same. */
  readonly cache: boolean
}

/** An empty directory on disk, for each replica its own. */
export interface ScratchPlan {
  readonly via: 'scratch'
  readonly path: string
  readonly sizeMiB: number | null
}

/** The live directory of a managed drive whose store is a directory. */
export interface DriveDirectoryPlan {
  readonly via: 'drive_directory'
  readonly driveId: string
  readonly subPath: string
  readonly path: string
  readonly readOnly: boolean
}

/** An NFS export, mounted by the scheduler itself. */
export interface NfsPlan {
  readonly via: 'nfs'
  readonly server: string
  readonly export: string
  /** Of mount.nfs, such as `nfsvers=4.1`. */
  readonly options: readonly string[]
  readonly path: string
  readonly readOnly: boolean
}

/** A bucket through an rclone volume plugin, which has the credentials; they are no part of a plan. */
export interface RclonePlan {
  readonly via: 'rclone_volume'
  /** Name in the plugin's configuration. */
  readonly remote: string
  readonly bucketPath: string
  readonly cacheMode: 'off' | 'writes' | 'full'
  readonly cacheMiB: number | null
  readonly options: Readonly<Record<string, string>>
  readonly path: string
  readonly readOnly: boolean
}

export interface ClaimPlan {
  readonly via: 'claim'
  readonly claimName: string
  readonly subPath: string
  readonly path: string
  readonly readOnly: boolean
}

/** A volume of a CSI driver: a static PersistentVolume, or inline where the driver can. */
export interface CsiPlan {
  readonly via: 'csi'
  readonly driver: string
  readonly volumeHandle: string
  readonly attributes: Readonly<Record<string, string>>
  readonly mountOptions: readonly string[]
  readonly path: string
  readonly readOnly: boolean
}

export interface EfsPlan {
  readonly via: 'efs'
  readonly fileSystemId: string
  readonly accessPointId: string | null
  readonly rootDirectory: string
  readonly path: string
  readonly readOnly: boolean
}

export interface S3FilesPlan {
  readonly via: 's3files'
  readonly fileSystemArn: string
  readonly accessPointArn: string | null
  readonly rootDirectory: string
  readonly path: string
  readonly readOnly: boolean
}

export type MountVia = MountPlan['via']

/** A way that was considered for a mount: taken, or dropped with a reason. */
export interface Candidate {
  readonly via: MountVia
  readonly mode: Exclude<MountMode, 'auto'>
  readonly taken: boolean
  /** Why it was dropped; null for the one that was taken. */
  readonly reason: string | null
}

/** How one mount of one role was made real; stored with the attempt and shown in every preview. */
export interface Resolution {
  readonly role: string
  readonly path: string
  readonly access: DriveAccess
  readonly mount: Mount
  readonly plan: MountPlan
  readonly candidates: readonly Candidate[]
  /** The drive as it was then; null for mounts that are not of a drive. */
  readonly drive: DriveSnapshot | null
  /** Of what was weakened or could surprise. */
  readonly warnings: readonly string[]
}
