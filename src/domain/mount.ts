import type { DriveAccess, DriveCredentials, DriveSource } from './drives/drive.ts'

/** What a role asks to see in its file system, after parsing and with every default filled in. */
export type Access = 'ro' | 'rw'

export interface VolumeMount {
  readonly type: 'volume'
  /** Volume name, `[a-zA-Z0-9][a-zA-Z0-9_.-]+`. */
  readonly source: string
  readonly path: string
  readonly access: Access
}

export interface BindMount {
  readonly type: 'bind'
  /** Absolute path on the machine that runs the replica; must lie under a root that the operator allows. */
  readonly source: string
  readonly path: string
  readonly access: Access
}

export interface DeviceMount {
  readonly type: 'device'
  /** Absolute path of the device on the machine that runs the replica. */
  readonly source: string
  readonly path: string
  /** A subset of `rwm` (read, write, mknod), in that order. */
  readonly permissions: string
}

export interface TmpfsMount {
  readonly type: 'tmpfs'
  readonly path: string
  readonly access: Access
  /** Upper bound in MiB; null leaves it to the scheduler. */
  readonly sizeMiB: number | null
}

/** What the job sees, and when its writes are safe; never how much it costs. */
export const MOUNT_MODES = ['auto', 'api', 'mount', 'cached', 'copy_in', 'copy_out', 'copy_in_out'] as const
export type MountMode = (typeof MOUNT_MODES)[number]

/** What it costs; never what it means. */
export const OPTIMIZATIONS = ['default', 'read_cache', 'throughput', 'checkpoint'] as const
export type Optimization = (typeof OPTIMIZATIONS)[number]

/** What a program may need of a file system that an object store does not have. */
export const REQUIREMENTS = ['rename', 'random_write', 'lock', 'symlink'] as const
export type Requirement = (typeof REQUIREMENTS)[number]

/** How a drive is seen, of a registered one or not. */
export interface DriveUse {
  readonly path: string
  readonly mode: MountMode
  readonly access: DriveAccess
  /** Below the drive's own root, without a slash at either end; empty for all of it. May hold macros. */
  readonly subPath: string
  readonly optimization: Optimization
  /** Nobody writes to it while the job runs: caches may keep what they have. */
  readonly immutable: boolean
  readonly maxStalenessSeconds: number | null
  readonly requires: readonly Requirement[]
  /** When an output is there already. */
  readonly onConflict: 'fail' | 'replace' | 'keep'
  readonly outputs: Outputs
  /** Of the tool that mounts it, from a list of allowed ones. */
  readonly options: Readonly<Record<string, string>>
  /** Other mounts may lie inside of it. */
  readonly allowNested: boolean
}

/** What is taken out of a mount that copies out. */
export interface Outputs {
  /** Glob patterns relative to the mount; all of it if `include` is empty. */
  readonly include: readonly string[]
  readonly exclude: readonly string[]
  readonly when: 'success' | 'always' | 'failure'
  /** What becomes of symbolic links. */
  readonly symlinks: 'skip' | 'follow' | 'fail'
  /** Taken again and again while the job runs; null for only at its end. */
  readonly intervalSeconds: number | null
}

export interface DriveMount extends DriveUse {
  readonly type: 'drive'
  readonly drive: string
}

export interface SourceMount extends DriveUse {
  readonly type: 'source'
  readonly source: DriveSource
  readonly credentials: DriveCredentials | null
}

export type Mount = VolumeMount | BindMount | DeviceMount | TmpfsMount | DriveMount | SourceMount
export type MountType = Mount['type']
