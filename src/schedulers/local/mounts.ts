import { join } from 'node:path'
import { assertNever } from '../../domain/assert-never.ts'
import { LINKED_MOUNT_ROOT } from '../../domain/capabilities.ts'
import type { MountPlan } from '../../domain/mount-plan.ts'
import { SchedulerError } from '../scheduler.ts'
import { volumesFolder } from './folders.ts'
import type { LocalPlace } from './local-place.ts'

/** One mount of a replica, in terms of this machine. `path` is where the replica sees it. */
export type LocalMount =
  | { readonly kind: 'volume'; readonly source: string; readonly path: string; readonly readOnly: boolean }
  | { readonly kind: 'bind'; readonly source: string; readonly path: string; readonly readOnly: boolean }
  | { readonly kind: 'tmpfs'; readonly path: string; readonly sizeMiB: number | null; readonly readOnly: boolean }

/**
 * The local form of a planned mount. Throws `rejected` for what admission should have refused: a device, and with
 * links whatever a link cannot do.
 */
export function localMount(plan: MountPlan, place: Pick<LocalPlace, 'root' | 'isolation'>): LocalMount {
  if (place.isolation === 'links') refuseUnlinkable(plan)
  switch (plan.via) {
    case 'named_volume':
      return { kind: 'volume', source: join(volumesFolder(place.root), plan.volume), path: plan.path, readOnly: plan.readOnly }
    case 'host_path':
      return { kind: 'bind', source: plan.hostPath, path: plan.path, readOnly: plan.readOnly }
    case 'tmpfs':
      return { kind: 'tmpfs', path: plan.path, sizeMiB: plan.sizeMiB, readOnly: plan.readOnly }
    case 'device':
      throw refusal(`${plan.path}: a local job cannot be given a device`)
    default:
      return assertNever(plan)
  }
}

function refuseUnlinkable(plan: MountPlan): void {
  if (!plan.path.startsWith(`${LINKED_MOUNT_ROOT}/`)) {
    throw refusal(`${plan.path}: without bubblewrap a mount must lie below ${LINKED_MOUNT_ROOT}`)
  }
  if (plan.via === 'tmpfs') throw refusal(`${plan.path}: without bubblewrap there is no tmpfs`)
  if (plan.via !== 'device' && plan.readOnly) throw refusal(`${plan.path}: without bubblewrap nothing can be read-only`)
}

const refusal = (message: string): SchedulerError => new SchedulerError('rejected', message, { failure: 'mount_failed' })
