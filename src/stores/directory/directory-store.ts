import { rm, type FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { StoreError, type ObjectStore, type ReadOptions, type WriteOptions } from '../object-store.ts'
import { copyObjects } from './copy-objects.ts'
import { directoryBatch } from './directory-batch.ts'
import type { DriveFolders } from './drive-folders.ts'
import { withKeyLocked } from './key-lock.ts'
import { listObjects } from './list-objects.ts'
import { openObject, readMeta, writeMeta } from './object-file.ts'
import { placeObject, removeObject } from './place-object.ts'
import { receive } from './upload.ts'

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
    async write(key: string, body: Readable, options: WriteOptions) {
      const { path, etag, size, sha256, modifiedAt } = await receive(folders, body, options)
      const contentType = options.contentType ?? null
      try {
        await writeMeta(folders, { key, etag }, { contentType, sha256 })
        await withKeyLocked(folders, key, () => placeObject(folders, { key, file: path }, options.condition))
      } catch (error) {
        await rm(path, { force: true })
        throw error
      }
      return { key, size, etag, modifiedAt, contentType, sha256 }
    },
    remove: (key, { ifMatch }) => withKeyLocked(folders, key, () => removeObject(folders, key, ifMatch)),
    list: (options) => listObjects(folders.data, options),
    batch: (id) => directoryBatch(folders, id),
    copyOut: (copies, options) => copyObjects(folders, copies, options),
    presign: async () => null,
  }
}
