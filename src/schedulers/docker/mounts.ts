import { join } from 'node:path'
import type { MountPlan } from '../../domain/mount-plan.ts'
import { SchedulerError } from '../scheduler.ts'
import type { DockerDevice, DockerMount, StagedMount } from './docker-request.ts'

/** The two places of a create body that mounts go to; an empty one is left out. */
export interface DockerMounts {
  readonly Mounts?: readonly DockerMount[]
  readonly Devices?: readonly DockerDevice[]
}

/** What of the scheduler's settings a mount depends on. */
export interface MountSettings {
  /** Where managed drives are on the daemon's machine; null where they are not. */
  readonly driveRoot: string | null
  /** Volume plugin that mounts buckets; null for none. */
  readonly rcloneDriver: string | null
}

/** Mounts in the order of their plans. Never `Binds`: a path with a colon would be read as another mount. */
export function renderMounts(plans: readonly MountPlan[], settings: MountSettings): DockerMounts {
  const mounts: DockerMount[] = []
  const devices: DockerDevice[] = []
  for (const plan of plans) {
    if (plan.via === 'device') devices.push(renderDevice(plan))
    else if (plan.via !== 'reference') mounts.push(renderMount(plan, settings))
  }
  return { ...(mounts.length > 0 && { Mounts: mounts }), ...(devices.length > 0 && { Devices: devices }) }
}

/** The mounts whose files are copied. The daemon has no read-only volume that is a container's own: such a copy is always a kept one. */
export const stagedMounts = (plans: readonly MountPlan[]): StagedMount[] =>
  plans
    .flatMap((plan) => (plan.via === 'staged' ? [plan] : []))
    .map(({ path, readOnly, direction, cache }, position) => ({ path, readOnly, direction, cache: cache || readOnly, position }))

type DevicePlan = Extract<MountPlan, { via: 'device' }>

const renderDevice = ({ hostPath, path, permissions }: DevicePlan): DockerDevice =>
  ({ PathOnHost: hostPath, PathInContainer: path, CgroupPermissions: permissions })

function renderMount(plan: Exclude<MountPlan, DevicePlan | { via: 'reference' }>, { driveRoot, rcloneDriver }: MountSettings): DockerMount {
  const shared = { Target: plan.path, ReadOnly: 'readOnly' in plan && plan.readOnly }
  switch (plan.via) {
    case 'named_volume':
      return { Type: 'volume', Source: plan.volume, ...shared }
    case 'host_path':
      return { Type: 'bind', Source: plan.hostPath, ...shared }
    case 'tmpfs':
      return { Type: 'tmpfs', ...shared, ...(plan.sizeMiB !== null && { TmpfsOptions: { SizeBytes: plan.sizeMiB * 1024 * 1024 } }) }
    case 'staged':
    case 'scratch':
      return { Type: 'volume', ...shared, VolumeOptions: { NoCopy: true } }
    case 'drive_directory':
      if (driveRoot === null || plan.subPath !== '') throw refusal(plan.path, plan.via)
      return { Type: 'bind', Source: join(driveRoot, plan.driveId, 'data'), ...shared }
    case 'nfs':
      return driven(plan.path, 'local', nfsOptions(plan))
    case 'rclone_volume':
      if (rcloneDriver === null) throw refusal(plan.path, plan.via)
      return driven(plan.path, rcloneDriver, rcloneOptions(plan))
    default:
      throw refusal(plan.path, plan.via)
  }
}

/** A volume of the container's own. The daemon refuses to keep such a one from being written: its driver must. */
const driven = (path: string, driver: string, options: Readonly<Record<string, string>>): DockerMount =>
  ({ Type: 'volume', Target: path, ReadOnly: false, VolumeOptions: { NoCopy: true, DriverConfig: { Name: driver, Options: options } } })

/** The `local` driver hands them to mount(2) as they are. */
const nfsOptions = ({ server, export: device, options, readOnly }: Extract<MountPlan, { via: 'nfs' }>) => ({
  type: 'nfs',
  o: [`addr=${server}`, readOnly ? 'ro' : 'rw', ...options].join(','),
  device: `:${device}`,
})

/** Of the plugin, as its command line has them. Whatever user the role has may write, as on a volume that is a bucket alone. */
const rcloneOptions = ({ remote, bucketPath, cacheMode, cacheMiB, options, readOnly }: Extract<MountPlan, { via: 'rclone_volume' }>) => ({
  ...options,
  remote: `${remote}:${bucketPath}`,
  'read-only': String(readOnly),
  'allow-other': 'true',
  'dir-perms': '0777',
  'file-perms': '0666',
  umask: '0',
  'vfs-cache-mode': cacheMode,
  ...(cacheMiB !== null && { 'vfs-cache-max-size': `${cacheMiB}Mi` }),
})

/** What admission should have refused. */
const refusal = (path: string, via: string): SchedulerError =>
  new SchedulerError('rejected', `${path}: Docker cannot be given a mount by ${via}`, { failure: 'mount_failed' })
