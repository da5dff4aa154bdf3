import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { ObjectInfo, WriteOptions } from '../object-store.ts'
import type { DriveFolders } from './drive-folders.ts'
import { removeMeta, writeMeta } from './object-file.ts'
import { receive } from './upload.ts'

export interface NewFile {
  readonly key: string
  readonly body: Readable
  readonly options: Omit<WriteOptions, 'condition'>
}

/** Receives an object, notes what no file system tells of it, and has it placed; nothing of it is left where that fails. */
export async function storeUpload(
  folders: DriveFolders,
  { key, body, options }: NewFile,
  place: (file: string) => Promise<void>,
): Promise<ObjectInfo> {
  const { path, etag, size, sha256, modifiedAt } = await receive(folders, body, options)
  const contentType = options.contentType ?? null
  try {
    await writeMeta(folders, { key, etag }, { contentType, sha256 })
    await place(path)
  } catch (error) {
    await removeMeta(folders, key, etag)
    await rm(path, { force: true })
    throw error
  }
  return { key, size, etag, modifiedAt, contentType, sha256 }
}
