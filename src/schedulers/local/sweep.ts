import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from './errors.ts'
import { attemptFolder, attemptsFolder, bellsFolder, tombstoneFile, tombstonesFolder, trashFolder } from './folders.ts'
import { deleteTree } from './remove-attempt.ts'
import { exists, readAttempt } from './replica-facts.ts'

/** Deletes what crashes have left behind: trash, bells without an attempt, and attempts that may not start any more and never did. */
export async function sweep(root: string, installation: string): Promise<void> {
  for (const name of await namesIn(trashFolder(root))) await deleteTree(join(trashFolder(root), name))
  for (const attemptId of await namesIn(bellsFolder(root))) {
    if (!await exists(attemptFolder(root, attemptId))) await rm(join(bellsFolder(root), attemptId), { force: true })
  }
  for (const attemptId of await namesIn(attemptsFolder(root))) {
    if (!await exists(tombstoneFile(root, attemptId))) continue
    const replicas = await readAttempt(root, attemptId, installation)
    if (replicas.every(({ start }) => start === null)) await deleteTree(attemptFolder(root, attemptId))
  }
}

/** Deletes tombstones that no claim can still run into: of attempts that are gone, and a day old. */
export async function expireTombstones(root: string): Promise<void> {
  for (const attemptId of await namesIn(tombstonesFolder(root))) {
    const tombstone = join(tombstonesFolder(root), attemptId)
    const made = await stat(tombstone).then(({ mtimeMs }) => mtimeMs).catch(unlessMissing(Infinity))
    if (made < Date.now() - TOMBSTONE_MS && !await exists(attemptFolder(root, attemptId))) await rm(tombstone, { force: true })
  }
}

/** Longer than any claim can sleep and still wake up to submit. */
const TOMBSTONE_MS = 24 * 3600_000

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(unlessMissing<string[]>([]))
