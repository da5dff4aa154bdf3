import { assertNever } from '../../domain/assert-never.ts'
import type { MountPlan } from '../../domain/mount-plan.ts'
import type { DockerDevice, DockerMount } from './docker-request.ts'

/** The two places of a create body that mounts go to; an empty one is left out. */
export interface DockerMounts {
  readonly Mounts?: readonly DockerMount[]
  readonly Devices?: readonly DockerDevice[]
}

/** Mounts in the order of their plans. Never `Binds`: a path with a colon would be read as another mount. */
export function renderMounts(plans: readonly MountPlan[]): DockerMounts {
  const mounts: DockerMount[] = []
  const devices: DockerDevice[] = []
  for (const plan of plans) {
    if (plan.via === 'device') devices.push(renderDevice(plan))
    else mounts.push(renderMount(plan))
  }
  return { ...(mounts.length > 0 && { Mounts: mounts }), ...(devices.length > 0 && { Devices: devices }) }
}

type DevicePlan = Extract<MountPlan, { via: 'device' }>

const renderDevice = ({ hostPath, path, permissions }: DevicePlan): DockerDevice =>
  ({ PathOnHost: hostPath, PathInContainer: path, CgroupPermissions: permissions })

function renderMount(plan: Exclude<MountPlan, DevicePlan>): DockerMount {
  const shared = { Target: plan.path, ReadOnly: plan.readOnly }
  switch (plan.via) {
    case 'named_volume':
      return { Type: 'volume', Source: plan.volume, ...shared }
    case 'host_path':
      return { Type: 'bind', Source: plan.hostPath, ...shared }
    case 'tmpfs':
      return { Type: 'tmpfs', ...shared, ...(plan.sizeMiB !== null && { TmpfsOptions: { SizeBytes: plan.sizeMiB * 1024 * 1024 } }) }
    default:
      return assertNever(plan)
  }
}
