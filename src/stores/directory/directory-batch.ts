import { access, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { StoreError, type ObjectBatch, type ObjectInfo, type OnConflict } from '../object-store.ts'
import { onDisk } from './disk-error.ts'
import { driveFolders, type DriveFolders } from './drive-folders.ts'
import { withKeyLocked } from './key-lock.ts'
import { everyObject } from './list-objects.ts'
import { removeMeta } from './object-file.ts'
import { obstacleAt, placeObject } from './place-object.ts'
import { storeUpload } from './store-upload.ts'

const MOST_NAMED = 10

/** Objects in a directory of their own beside the drive's, which become visible by being moved. */
export function directoryBatch(folders: DriveFolders, id: string): ObjectBatch {
  const own = driveFolders(folders.batches, id)
  const keys = async (signal: AbortSignal): Promise<ObjectInfo[]> => {
    const all: ObjectInfo[] = []
    for await (const object of everyObject(own.data, signal)) all.push(object)
    return all
  }
  /** What is left of it, and what is known of that. */
  const forget = async (signal: AbortSignal): Promise<void> => {
    for (const { key, etag } of await keys(signal)) await removeMeta(folders, key, etag)
    await rm(own.root, { recursive: true, force: true })
  }
  return {
    write: (key: string, body: Readable, options) =>
      onDisk(() => storeUpload(folders, { key, body, options }, (file) => placeObject(own, { key, file }, undefined))),
    keys,
    check: async ({ onConflict, signal }) => refuseObstacles(folders, await keys(signal), onConflict),
    commit: ({ onConflict, signal }) =>
      onDisk(async () => {
        for (const object of await keys(signal)) await move(folders, { own, object }, onConflict)
        await forget(signal)
      }),
    abandon: forget,
  }
}

async function refuseObstacles(folders: DriveFolders, objects: readonly ObjectInfo[], onConflict: OnConflict): Promise<void> {
  const inTheWay: string[] = []
  for (const { key } of objects) {
    const obstacle = await obstacleAt(folders, key)
    if (obstacle === 'conflict')
      throw new StoreError('conflict', `"${key}" cannot be put there: an object lies where a directory must be, or the other way round`)
    if (obstacle === 'object' && onConflict === 'fail') inTheWay.push(key)
  }
  if (inTheWay.length === 0) return
  const more = inTheWay.length > MOST_NAMED ? ` and ${inTheWay.length - MOST_NAMED} more` : ''
  throw new StoreError('precondition_failed', `already there: ${inTheWay.slice(0, MOST_NAMED).join(', ')}${more}`)
}

async function move(
  folders: DriveFolders,
  { own, object }: { own: DriveFolders; object: ObjectInfo },
  onConflict: OnConflict,
): Promise<void> {
  const file = join(own.data, object.key)
  await withKeyLocked(folders, object.key, async () => {
    if (onConflict === 'keep' && (await obstacleAt(folders, object.key)) !== null) return
    if (await isThere(file)) await placeObject(folders, { key: object.key, file }, undefined)
  })
}

/** False for what another one has moved since the batch was read; under the key's lock that does not change. */
const isThere = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )
