import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { StoreError, type ObjectStore, type ReadOptions, type WriteOptions } from '../object-store.ts'
import { copyObjects } from './copy-objects.ts'
import { directoryBatch } from './directory-batch.ts'
import { onDisk } from './disk-error.ts'
import type { DriveFolders } from './drive-folders.ts'
import { withKeyLocked } from './key-lock.ts'
import { listObjects } from './list-objects.ts'
import { openObject, readMeta } from './object-file.ts'
import { placeObject, removeObject } from './place-object.ts'
import { storeUpload } from './store-upload.ts'

/** Read at once: a stream of its own would take longer. */
const SMALL_BYTES = 256 * 1024

async function readAndClose(handle: FileHandle): Promise<Buffer> {
  try {
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** A managed drive in a directory of this machine, which jobs may see live and change behind our back. */
export function directoryStore(folders: DriveFolders): ObjectStore {
  return {
    async head(key) {
      const object = await openObject(folders, key)
      if (object === null) return null
      await object.handle.close()
      return { ...object.info, ...(await readMeta(folders, object.info)) }
    },
    async read(key, { range, ifMatch, signal }: ReadOptions) {
      const object = await openObject(folders, key)
      if (object === null) throw new StoreError('not_found', `there is no object "${key}"`)
      const { handle, info } = object
      if (ifMatch !== undefined && ifMatch !== info.etag) {
        await handle.close()
        throw new StoreError('precondition_failed', `"${key}" has changed`)
      }
      if (range === undefined && info.size <= SMALL_BYTES) return Readable.from([await readAndClose(handle)])
      return handle.createReadStream({ ...range, signal, highWaterMark: 1024 * 1024 })
    },
    write: (key: string, body: Readable, options: WriteOptions) =>
      onDisk(() =>
        storeUpload(folders, { key, body, options }, (file) =>
          withKeyLocked(folders, key, () => placeObject(folders, { key, file }, options.condition)),
        ),
      ),
    remove: (key, { ifMatch }) => onDisk(() => withKeyLocked(folders, key, () => removeObject(folders, key, ifMatch))),
    list: (options) => listObjects(folders.data, options),
    batch: (id) => directoryBatch(folders, id),
    copyOut: (copies, options) => copyObjects(folders, copies, options),
    presign: async () => null,
  }
}
