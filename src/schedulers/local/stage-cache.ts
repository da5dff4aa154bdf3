import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from '../../make-directory.ts'
import { inLanes } from '../../in-lanes.ts'
import type { StagedTree } from '../scheduler.ts'
import { errorCode } from './errors.ts'
import { writeTree, type TreeWriting } from './write-tree.ts'

/** Trees that jobs have had, by version, so that the next one that wants the same needs no copy. */
export interface StageCache {
  readonly directory: string
  readonly maxBytes: number
}

/**
 * Puts a tree into a directory by hard links to the cache, which is filled first if need be. Read-only mounts alone may
 * come from here. Safe under any number of jobs and workers: an entry appears whole, and links outlive it.
 */
export async function linkFromCache(cache: StageCache, target: string, tree: StagedTree, writing: TreeWriting): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const isOld = await isKept(cache, tree.version)
    if (!isOld) await keep(cache, tree, writing)
    try {
      await linkTree(entry(cache, tree.version), target, tree)
      if (isOld) for (const { size } of tree.files) writing.onFile(size)
      return
    } catch (error) {
      // It was evicted in between.
      if (errorCode(error) !== 'ENOENT') throw error
    }
  }
  await writeTree(target, tree, writing)
}

const ROUNDS = 3
const LINKS_AT_ONCE = 8

const entry = ({ directory }: StageCache, version: string): string => join(directory, version)
/** Beside each entry: how many bytes it takes; its time is that of the last use. */
const note = (cache: StageCache, version: string): string => `${entry(cache, version)}.bytes`

async function isKept(cache: StageCache, version: string): Promise<boolean> {
  const now = new Date()
  return utimes(note(cache, version), now, now).then(
    () => true,
    () => false,
  )
}

async function keep(cache: StageCache, tree: StagedTree, writing: TreeWriting): Promise<void> {
  await makeDirectory(cache.directory, 0o755)
  await evict(cache, tree.totalBytes)
  const draft = join(cache.directory, `.${randomUUID()}`)
  try {
    await writeTree(draft, tree, writing)
    await rename(draft, entry(cache, tree.version)).catch((error: unknown) => {
      // Another job was first, with the same.
      if (errorCode(error) !== 'ENOTEMPTY' && errorCode(error) !== 'EEXIST') throw error
    })
    await writeFile(note(cache, tree.version), String(tree.totalBytes))
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function linkTree(from: string, target: string, tree: StagedTree): Promise<void> {
  for (const parent of new Set(tree.files.map(({ path }) => join(target, path, '..')))) await makeDirectory(parent)
  await inLanes(LINKS_AT_ONCE, tree.files, ({ path }) =>
    link(join(from, path), join(target, path)).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error
    }),
  )
}

/** Least recently used first, until the new entry has room. */
async function evict(cache: StageCache, wanted: number): Promise<void> {
  const names = (await readdir(cache.directory)).filter((name) => name.endsWith('.bytes'))
  const entries = await Promise.all(
    names.map(async (name) => {
      const path = join(cache.directory, name)
      const bytes = Number(await readFile(path, 'utf8').catch(() => '0'))
      return { version: name.slice(0, -'.bytes'.length), bytes, usedAt: (await stat(path).catch(() => null))?.mtimeMs ?? 0 }
    }),
  )
  let total = entries.reduce((sum, { bytes }) => sum + bytes, wanted)
  for (const { version, bytes } of entries.sort((a, b) => a.usedAt - b.usedAt)) {
    if (total <= cache.maxBytes) return
    await rm(note(cache, version), { force: true })
    await rm(entry(cache, version), { recursive: true, force: true })
    total -= bytes
  }
}
