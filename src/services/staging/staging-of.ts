import { createHash } from 'node:crypto'
import { basename, join } from 'node:path/posix'
import type { Claim } from '../../db/statements/claim-attempt.ts'
import { SchedulerError, type MountPlace, type StagedTree, type Staging } from '../../schedulers/scheduler.ts'
import type { ObjectInfo, ObjectStore } from '../../stores/object-store.ts'
import { objectsBelow } from '../objects/objects-below.ts'
import { seenWhole } from '../objects/seen-whole.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { openDrive } from './open-drive.ts'
import { resumedBody } from './resumed-body.ts'
import { placeInDrive, stagedMounts, type StagedMount } from './staged-mounts.ts'
import { storeFailure } from './store-failure.ts'

/** A mount of more files wants another mode; the list alone would fill memory. */
const MOST_FILES = 1_000_000

/** What a scheduler may ask for while it submits an attempt: the files of its staged mounts, as they are now. */
export function stagingOf(deps: ServiceDeps, claim: Claim): Staging {
  const mounts = stagedMounts(claim)
  return {
    async open(place, signal) {
      const mount = mounts.find((other) => isSame(other.place, place))
      if (!mount) throw new Error(`nothing is staged at ${place.path} of ${place.role}/${place.index}`)
      try {
        const store = await openDrive(deps, claim.project, mount.drive)
        const found = await seenWhole(deps, { drive: mount.drive, store, signal }, () => objectsAt(store, mount, signal))
        return treeOf(store, mount, found)
      } catch (error) {
        throw storeFailure(error, placeInDrive(mount))
      }
    },
  }
}

const isSame = (a: MountPlace, b: MountPlace): boolean => a.role === b.role && a.index === b.index && a.path === b.path

interface Found {
  readonly objects: readonly ObjectInfo[]
  /** What the paths of the mount leave out of the keys. */
  readonly root: string
}

function treeOf(store: ObjectStore, mount: StagedMount, { objects, root }: Found): StagedTree {
  const version = createHash('sha256')
  for (const { key, size, etag } of objects) version.update(`${key.slice(root.length)}\0${size}\0${etag}\n`)
  const explain = (error: unknown): unknown => storeFailure(error, placeInDrive(mount))
  const copyTo: StagedTree['copyTo'] = async (directory, { onFile, ...copying }) => {
    const copies = objects.map(({ key, size, etag }) => ({ key, size, etag, to: join(directory, key.slice(root.length)) }))
    await store.copyOut?.(copies, { ...copying, onCopied: onFile }).catch((error: unknown) => Promise.reject(explain(error)))
  }
  return {
    copyTo: store.copyOut === undefined ? null : copyTo,
    version: version.update(JSON.stringify([mount.drive.id, mount.drive.source])).digest('hex'),
    totalBytes: objects.reduce((sum, { size }) => sum + size, 0),
    files: objects.map((object) => ({
      path: object.key.slice(root.length),
      size: object.size,
      open: async (opened) => resumedBody(store, object, { signal: opened, explain }),
    })),
  }
}

/** All objects below the mount's part of the drive; or the one object that its name is, by its own last name. */
async function objectsAt(store: ObjectStore, mount: StagedMount, signal: AbortSignal): Promise<Found> {
  const { subPath } = mount
  const root = subPath === '' ? '' : `${subPath}/`
  const objects: ObjectInfo[] = []
  for await (const object of objectsBelow(store, root, signal)) {
    if (!object.key.endsWith('/')) objects.push(object)
    if (objects.length > MOST_FILES) throw tooMany(mount)
  }
  if (objects.length > 0 || subPath === '') return { objects, root }
  const one = await store.head(subPath, signal)
  return one ? { objects: [one], root: subPath.slice(0, subPath.length - basename(subPath).length) } : { objects, root }
}

const tooMany = (mount: StagedMount): SchedulerError =>
  new SchedulerError('rejected', `${placeInDrive(mount)} holds more than ${MOST_FILES} files: mount it instead of copying it`, {
    failure: 'mount_failed',
  })
