import { createHash } from 'node:crypto'
import { mkdir, rmdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeDirectory } from '../../make-directory.ts'
import { codeOf } from './contained.ts'
import type { DriveFolders } from './drive-folders.ts'

/** What is done under a lock takes milliseconds; whoever held one for so long has died. */
const STALE_MS = 30_000

/** Does something while nobody else changes the object, in this process or another one of this machine. */
export async function withKeyLocked<T>(folders: DriveFolders, key: string, act: () => Promise<T>): Promise<T> {
  const path = join(folders.locks, createHash('sha256').update(key).digest('hex').slice(0, 32))
  await makeDirectory(folders.locks)
  for (let wait = 1; !(await take(path)); wait = Math.min(wait * 2, 50)) await sleep(wait)
  try {
    return await act()
  } finally {
    await rmdir(path).catch(() => undefined)
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  }
  const held = await stat(path).catch(() => null)
  if (held !== null && Date.now() - held.mtimeMs > STALE_MS) await rmdir(path).catch(() => undefined)
  return false
}
