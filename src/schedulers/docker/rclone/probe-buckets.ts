import { SchedulerError } from '../../scheduler.ts'
import { RcloneError } from './rclone-control.ts'
import { bucketMounts, told, type RclonePlugin } from './rclone-plugin.ts'
import type { Submission } from '../submission.ts'

/**
 * Proves that the plugin can do in each bucket what the job is going to do there: list, and write where it may.
 * @throws SchedulerError before anything has started
 */
export async function probeBuckets({ native, context: { signal }, rclone }: Submission): Promise<void> {
  if (rclone === null) return
  const mounts = native.containers.flatMap(({ create }) => bucketMounts(create.HostConfig.Mounts ?? [], rclone.driver))
  for (const fs of new Set(mounts.map((mount) => mount.remote))) {
    await told(fs, () => list(rclone, fs, signal))
    if (mounts.some((mount) => mount.remote === fs && !mount.readOnly)) {
      await told(fs, () => writeAndDelete(rclone, { fs, name: `.berth/probes/${native.attemptId}` }, signal))
    }
  }
}

/** A prefix is there once something lies below it, a bucket always. */
async function list(plugin: RclonePlugin, fs: string, signal: AbortSignal): Promise<void> {
  const bucket = /^[^:]+:[^/]+/.exec(fs)?.[0] ?? fs
  if ((await isListed(plugin, fs, signal)) || (await isListed(plugin, bucket, signal))) return
  throw new SchedulerError('rejected', `${fs}: there is no such bucket`, { failure: 'mount_failed' })
}

async function isListed({ control }: RclonePlugin, fs: string, signal: AbortSignal): Promise<boolean> {
  try {
    await control.call('operations/list', { fs, remote: '', opt: { noModTime: true, noMimeType: true } }, signal)
    return true
  } catch (error) {
    if (error instanceof RcloneError && error.statusCode === 404) return false
    throw error
  }
}

async function writeAndDelete({ control }: RclonePlugin, { fs, name }: { fs: string; name: string }, signal: AbortSignal): Promise<void> {
  await control.upload({ fs, name, content: 'berth' }, signal)
  await control.call('operations/deletefile', { fs, remote: name }, signal)
}
