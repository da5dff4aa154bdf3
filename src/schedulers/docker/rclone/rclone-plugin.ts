import { SchedulerError } from '../../scheduler.ts'
import type { DockerMount } from '../docker-request.ts'
import { RcloneError, type RcloneControl } from './rclone-control.ts'

/** A volume plugin of the daemon that mounts buckets. */
export interface RclonePlugin {
  readonly driver: string
  readonly control: RcloneControl
}

export interface BucketMount {
  /** `remote:bucket/prefix` */
  readonly remote: string
  readonly readOnly: boolean
}

/** Those of a container that the plugin makes. */
export const bucketMounts = (mounts: readonly DockerMount[], driver: string): BucketMount[] =>
  mounts.flatMap((mount) => {
    const config = mount.Type === 'volume' ? mount.VolumeOptions?.DriverConfig : undefined
    return config?.Name === driver ? [{ remote: config.Options['remote'] ?? '', readOnly: config.Options['read-only'] === 'true' }] : []
  })

/** What the plugin fails of, as what the attempt makes of it. @throws SchedulerError */
export async function told(what: string, act: () => Promise<void>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!(error instanceof RcloneError)) throw error
    if (error.statusCode === null) throw new SchedulerError('unavailable', `the rclone plugin gave ${error.message}`, { cause: error })
    throw new SchedulerError('rejected', `${what}: the rclone plugin says: ${error.message}`, { cause: error, failure: 'mount_failed' })
  }
}
