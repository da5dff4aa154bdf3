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

export type Mount = VolumeMount | BindMount | DeviceMount | TmpfsMount
export type MountType = Mount['type']
