import { link, lstat, rename, rm, rmdir } from 'node:fs/promises'
import { StoreError, type WriteCondition } from '../object-store.ts'
import { codeOf, inside, openDirectory } from './contained.ts'
import { split, type DriveFolders } from './drive-folders.ts'
import { etagOf, openObject, removeMeta } from './object-file.ts'

/** Makes a whole file visible under a key, under the key's lock. The file is moved. @throws StoreError `precondition_failed`, `conflict` */
export async function placeObject(
  folders: DriveFolders,
  { key, file }: { key: string; file: string },
  condition: WriteCondition | undefined,
): Promise<void> {
  const { parts, name } = split(key)
  const directory = await openDirectory(folders.data, parts, 'make')
  if (directory === null) throw new Error('a directory that was made is gone')
  try {
    const old = await currentTag(folders, key)
    if (condition?.kind === 'match' && old !== condition.etag) throw changed(key)
    if (condition?.kind === 'never') {
      await link(file, inside(directory, name))
      await rm(file, { force: true })
    } else {
      await rename(file, inside(directory, name))
    }
    if (old !== null) await removeMeta(folders, key, old)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST') throw changed(key)
    if (code === 'EISDIR' || code === 'ENOTDIR' || code === 'ENOTEMPTY') throw new StoreError('conflict', `"${key}" is a directory`)
    throw error
  } finally {
    await directory.close()
  }
}

/** What stands in the way of placing an object: null, another object, or what cannot be replaced by one. */
export async function obstacleAt(folders: DriveFolders, key: string): Promise<'object' | 'conflict' | null> {
  const { parts, name } = split(key)
  try {
    const directory = await openDirectory(folders.data, parts, 'null')
    if (directory === null) return null
    try {
      const stats = await lstat(inside(directory, name))
      return stats.isDirectory() ? 'conflict' : 'object'
    } finally {
      await directory.close()
    }
  } catch (error) {
    if (error instanceof StoreError) return 'conflict'
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

/** Deletes an object and the directories that it leaves empty. False if there is none. */
export async function removeObject(folders: DriveFolders, key: string, ifMatch: string | undefined): Promise<boolean> {
  const old = await currentTag(folders, key)
  if (old === null) return false
  if (ifMatch !== undefined && ifMatch !== old) throw changed(key)
  const { parts, name } = split(key)
  const directory = await openDirectory(folders.data, parts, 'null')
  if (directory === null) return false
  try {
    await rm(inside(directory, name), { force: true })
  } finally {
    await directory.close()
  }
  await removeMeta(folders, key, old)
  await prune(folders, parts)
  return true
}

async function currentTag(folders: DriveFolders, key: string): Promise<string | null> {
  const object = await openObject(folders, key)
  if (object === null) return null
  try {
    return etagOf(await object.handle.stat({ bigint: true }))
  } finally {
    await object.handle.close()
  }
}

async function prune(folders: DriveFolders, parts: readonly string[]): Promise<void> {
  for (let depth = parts.length; depth > 0; depth -= 1) {
    const outer = await openDirectory(folders.data, parts.slice(0, depth - 1), 'null')
    if (outer === null) return
    try {
      await rmdir(inside(outer, parts[depth - 1] ?? ''))
    } catch {
      return
    } finally {
      await outer.close()
    }
  }
}

const changed = (key: string): StoreError => new StoreError('precondition_failed', `"${key}" is there, or is not as it was`)
