import { constants } from 'node:fs'
import { mkdir, open, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeDirectory } from '../../make-directory.ts'
import { StoreError } from '../object-store.ts'

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** Others may write here too: jobs see these directories live, as whatever user they have. */
const MODE = 0o777

/**
 * Opens a directory below another one part by part, each relative to the descriptor of the one before and without
 * following links, so that no link, and no exchange of a part for a link, can lead out. The caller closes it.
 *
 * @returns null if there is none, and it was not to be made
 * @throws StoreError `conflict` where a part is no directory
 */
export async function openDirectory(root: string, parts: readonly string[], missing: 'make' | 'null'): Promise<FileHandle | null> {
  if (missing === 'make') await makeDirectory(dirname(root))
  let handle = await openPart(root, missing)
  for (const part of parts) {
    if (handle === null) return null
    const outer: FileHandle = handle
    try {
      handle = await openPart(inside(outer, part), missing)
    } finally {
      await outer.close()
    }
  }
  return handle
}

/** The address of an entry of an open directory. Whoever opens it must not follow links. */
export const inside = (directory: FileHandle, name: string): string => `/proc/self/fd/${directory.fd}/${name}`

async function openPart(path: string, missing: 'make' | 'null'): Promise<FileHandle | null> {
  try {
    return await open(path, DIRECTORY)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOTDIR' || code === 'ELOOP') throw new StoreError('conflict', 'a part of the path is no directory', { cause: error })
    if (code !== 'ENOENT') throw error
    if (missing === 'null') return null
  }
  await mkdir(path, { mode: MODE }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  const made = await open(path, DIRECTORY)
  await made.chmod(MODE)
  return made
}

/** `ENOENT` and the like; empty for what is no system error. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
