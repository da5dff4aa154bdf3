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

function renderMount(plan: Exclude<MountPlan, DevicePlan | { via: 'reference' }>, { driveRoot }: MountSettings): DockerMount {
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
      return { Type: 'volume', ...shared, VolumeOptions: { NoCopy: true, DriverConfig: { Name: 'local', Options: nfsOptions(plan) } } }
    default:
      throw refusal(plan.path, plan.via)
  }
}

/** The `local` driver hands them to mount(2) as they are. */
const nfsOptions = ({ server, export: device, options, readOnly }: Extract<MountPlan, { via: 'nfs' }>) => ({
  type: 'nfs',
  o: [`addr=${server}`, readOnly ? 'ro' : 'rw', ...options].join(','),
  device: `:${device}`,
})

/** What admission should have refused. */
const refusal = (path: string, via: string): SchedulerError =>
  new SchedulerError('rejected', `${path}: Docker cannot be given a mount by ${via}`, { failure: 'mount_failed' })
