import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from './errors.ts'
import { attemptFolder, attemptsFolder, bellsFolder, tombstonesFolder, trashFolder } from './folders.ts'
import { deleteTree } from './remove-attempt.ts'
import { exists, readAttempt } from './replica-facts.ts'

/** Deletes what crashes have left behind: trash, bells and folders without an attempt, and tombstones after a day. */
export async function sweep(root: string, installation: string): Promise<void> {
  for (const name of await namesIn(trashFolder(root))) await deleteTree(join(trashFolder(root), name))
  for (const name of await namesIn(bellsFolder(root))) {
    if (!await exists(attemptFolder(root, name))) await rm(join(bellsFolder(root), name), { force: true })
  }
  for (const name of await namesIn(tombstonesFolder(root))) await sweepTombstone(root, name, installation)
}

/** Longer than any claim can sleep and still wake up to submit. */
const TOMBSTONE_MS = 24 * 3600_000

async function sweepTombstone(root: string, attemptId: string, installation: string): Promise<void> {
  const tombstone = join(tombstonesFolder(root), attemptId)
  const made = await stat(tombstone).then(({ mtimeMs }) => mtimeMs).catch(unlessMissing(null))
  if (made === null) return
  const late = await readdir(attemptFolder(root, attemptId)).catch(unlessMissing(null))
  if (late === null) {
    if (made < Date.now() - TOMBSTONE_MS) await rm(tombstone, { force: true })
    return
  }
  const replicas = await readAttempt(root, attemptId, installation)
  if (replicas.every(({ start }) => start === null)) await deleteTree(join(attemptsFolder(root), attemptId))
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(unlessMissing<string[]>([]))
