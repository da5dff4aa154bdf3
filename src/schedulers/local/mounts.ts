import { join } from 'node:path'
import { LINKED_MOUNT_ROOT } from '../../domain/capabilities.ts'
import type { MountPlan, StagedPlan } from '../../domain/mount-plan.ts'
import { slug } from '../../domain/names.ts'
import { SchedulerError } from '../scheduler.ts'
import { volumesFolder } from './folders.ts'
import type { LocalPlace } from './local-place.ts'

/** One mount of a replica, in terms of this machine. `path` is where the replica sees it. */
export type LocalMount =
  | { readonly kind: 'volume'; readonly source: string; readonly path: string; readonly readOnly: boolean }
  | { readonly kind: 'bind'; readonly source: string; readonly path: string; readonly readOnly: boolean }
  | { readonly kind: 'tmpfs'; readonly path: string; readonly sizeMiB: number | null; readonly readOnly: boolean }
  | OwnMount
  | DriveMount

/** A directory of the replica's own: empty, or filled before it starts. */
export interface OwnMount {
  readonly kind: 'own'
  readonly source: string
  readonly path: string
  readonly readOnly: boolean
  /** Whether files of a drive are copied in, out or both; null for scratch space. */
  readonly direction: StagedPlan['direction'] | null
  readonly cache: boolean
}

/** A part of the live directory of a managed drive, in which jobs may do what they like: opened without following links. */
export interface DriveMount {
  readonly kind: 'drive'
  readonly root: string
  readonly source: string
  readonly path: string
  readonly readOnly: boolean
}

export interface MountPlace extends Pick<LocalPlace, 'root' | 'isolation'> {
  /** Where managed drives are; null where they are not on this machine. */
  readonly driveRoot: string | null
  /** Folder of the replica. */
  readonly folder: string
}

/** The folder of a replica's own mount. */
export const ownMountFolder = (replicaFolder: string, path: string): string => join(replicaFolder, 'mounts', slug(path, 100))

/**
 * The local form of a planned mount, none for a reference. Throws `rejected` for what admission should have refused: a
 * device, another scheduler's own, and with links whatever a link cannot do.
 */
export function localMount(plan: MountPlan, place: MountPlace): LocalMount[] {
  if (plan.via === 'reference') return []
  if (place.isolation === 'links') refuseUnlinkable(plan)
  switch (plan.via) {
    case 'named_volume':
      return [{ kind: 'volume', source: join(volumesFolder(place.root), plan.volume), path: plan.path, readOnly: plan.readOnly }]
    case 'host_path':
      return [{ kind: 'bind', source: plan.hostPath, path: plan.path, readOnly: plan.readOnly }]
    case 'tmpfs':
      return [{ kind: 'tmpfs', path: plan.path, sizeMiB: plan.sizeMiB, readOnly: plan.readOnly }]
    case 'scratch':
      return [
        { kind: 'own', source: ownMountFolder(place.folder, plan.path), path: plan.path, readOnly: false, direction: null, cache: false },
      ]
    case 'staged': {
      const { path, readOnly, direction, cache } = plan
      return [{ kind: 'own', source: ownMountFolder(place.folder, path), path, readOnly, direction, cache }]
    }
    case 'drive_directory': {
      if (place.driveRoot === null) throw refusal(`${plan.path}: managed drives are not on this machine`)
      const root = join(place.driveRoot, plan.driveId, 'data')
      return [
        { kind: 'drive', root, source: plan.subPath === '' ? root : `${root}/${plan.subPath}`, path: plan.path, readOnly: plan.readOnly },
      ]
    }
    default:
      throw refusal(`${plan.path}: a local job cannot be given a mount by ${plan.via}`)
  }
}

function refuseUnlinkable(plan: MountPlan): void {
  if (!plan.path.startsWith(`${LINKED_MOUNT_ROOT}/`)) {
    throw refusal(`${plan.path}: without bubblewrap a mount must lie below ${LINKED_MOUNT_ROOT}`)
  }
  if (plan.via === 'tmpfs') throw refusal(`${plan.path}: without bubblewrap there is no tmpfs`)
  if ('readOnly' in plan && plan.readOnly) throw refusal(`${plan.path}: without bubblewrap nothing can be read-only`)
}

const refusal = (message: string): SchedulerError => new SchedulerError('rejected', message, { failure: 'mount_failed' })
