import { createHash, randomUUID } from 'node:crypto'
import { constants, type BigIntStats } from 'node:fs'
import { open, readFile, rename, rm, writeFile, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from '../../make-directory.ts'
import type { ObjectInfo } from '../object-store.ts'
import { codeOf, inside, openDirectory } from './contained.ts'
import { split, type DriveFolders } from './drive-folders.ts'

export interface OpenObject {
  readonly handle: FileHandle
  /** As `infoOf` gives it. */
  readonly info: ObjectInfo
}

/** Opens an object for reading; null for what is no regular file. The caller closes it. */
export async function openObject(folders: DriveFolders, key: string): Promise<OpenObject | null> {
  const { parts, name } = split(key)
  const directory = await openDirectory(folders.data, parts, 'null').catch(notThere)
  if (directory === null) return null
  try {
    // Without O_NONBLOCK a fifo that a job made would hold up whoever opens it.
    const handle = await open(inside(directory, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(notThere)
    if (handle === null) return null
    const stats = await handle.stat({ bigint: true })
    if (stats.isFile()) return { handle, info: infoOf(key, stats) }
    await handle.close()
    return null
  } finally {
    await directory.close()
  }
}

function notThere(error: unknown): null {
  const code = codeOf(error)
  if (code === 'conflict' || ['ENOENT', 'ELOOP', 'ENXIO', 'ENOTDIR', 'EACCES', 'ENAMETOOLONG'].includes(code)) return null
  if (error instanceof Error && error.name === 'StoreError') return null
  throw error
}

/** A job that writes in place changes the time of the last change, a replaced file is another inode. */
export const etagOf = ({ ino, size, mtimeNs }: BigIntStats): string => `"${ino.toString(36)}-${size.toString(36)}-${mtimeNs.toString(36)}"`

export interface ObjectMeta {
  readonly contentType: string | null
  readonly sha256: string | null
}

/** What the file system tells; `readMeta` knows the rest. */
export const infoOf = (key: string, stats: BigIntStats): ObjectInfo => ({
  key,
  size: Number(stats.size),
  etag: etagOf(stats),
  modifiedAt: new Date(Number(stats.mtimeNs / 1_000_000n)),
  contentType: null,
  sha256: null,
})

const metaFile = (folders: DriveFolders, key: string, etag: string): string =>
  join(folders.meta, createHash('sha256').update(`${key}\0${etag}`).digest('hex'))

/** Of just this version; nothing for what a job has written live. */
export async function readMeta(folders: DriveFolders, { key, etag }: Pick<ObjectInfo, 'key' | 'etag'>): Promise<ObjectMeta> {
  const text = await readFile(metaFile(folders, key, etag), 'utf8').catch(() => null)
  return text === null ? { contentType: null, sha256: null } : (JSON.parse(text) as ObjectMeta)
}

/** Written before the object is visible: it belongs to that version alone. */
export async function writeMeta(folders: DriveFolders, { key, etag }: { key: string; etag: string }, meta: ObjectMeta): Promise<void> {
  await makeDirectory(folders.meta)
  const draft = join(folders.meta, `.${randomUUID()}`)
  await writeFile(draft, JSON.stringify(meta))
  await rename(draft, metaFile(folders, key, etag))
}

export const removeMeta = (folders: DriveFolders, key: string, etag: string): Promise<void> =>
  rm(metaFile(folders, key, etag), { force: true })
