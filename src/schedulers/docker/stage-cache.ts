import { setTimeout as sleep } from 'node:timers/promises'
import type { StagedTree } from '../scheduler.ts'
import { statusOf } from './engine.ts'
import type { Submission } from './submission.ts'

/** Label of the mark of a copy that is whole: the installation. Another one says how many bytes it takes. */
const CACHE = 'berth.cache'
const BYTES = 'berth.cache.bytes'
const LOOK_MS = 250

/** Copies under way in this process, by volume: two jobs that want the same wait for one. */
const filling = new Map<string, Promise<void>>()

/**
 * The volume with a copy of this tree, made if it is not there. The mark, a volume of its own, tells a whole copy from one
 * that a crash has cut off: volumes cannot be renamed, nor labelled later.
 */
export async function ensureCached(submission: Submission, tree: StagedTree, fill: (volume: string) => Promise<void>): Promise<string> {
  const {
    engine,
    native: { installation },
  } = submission
  const volume = `berth-${installation}-cache-${tree.version.slice(0, 32)}`
  const key = `${engine.host} ${volume}`
  while (!(await isCached(submission, volume))) {
    const before = filling.get(key)
    if (before !== undefined) {
      await before.catch(() => undefined)
      continue
    }
    const work = make(submission, { volume, tree, fill })
    filling.set(key, work)
    await work.finally(() => filling.delete(key))
  }
  return volume
}

const markOf = (volume: string): string => `${volume}-whole`
const lockOf = (volume: string): string => `${volume}-filling`

/** Whether the copy is whole. */
export async function isCached({ engine, context }: Submission, volume: string): Promise<boolean> {
  return (await engine.find({ method: 'GET', path: `/volumes/${markOf(volume)}`, signal: context.signal })) !== null
}

interface Making {
  readonly volume: string
  readonly tree: StagedTree
  readonly fill: (volume: string) => Promise<void>
}

/** A container of a fixed name, which never starts, keeps workers of other processes away meanwhile. */
async function make(submission: Submission, { volume, tree, fill }: Making): Promise<void> {
  const {
    engine,
    native,
    context: { signal },
  } = submission
  const lock = lockOf(volume)
  if (!(await takeLock(submission, lock))) {
    await sleep(LOOK_MS, undefined, { signal })
    return
  }
  try {
    if (await isCached(submission, volume)) return
    await evict(submission, tree.totalBytes)
    await fill(volume)
    const Labels = { [CACHE]: native.installation, [BYTES]: String(tree.totalBytes) }
    await engine.call({ method: 'POST', path: '/volumes/create', body: { Name: markOf(volume), Labels }, signal })
  } finally {
    await engine.call({ method: 'DELETE', path: `/containers/${lock}`, signal: AbortSignal.timeout(30_000) }).catch(() => undefined)
  }
}

/** Whoever has held it for so long has died; a copy of so many bytes would not be staged. */
const STALE_MS = 30 * 60_000

async function takeLock({ engine, native, context: { signal } }: Submission, lock: string): Promise<boolean> {
  const body = { Image: native.images[0], Entrypoint: ['/berth-never-starts'], Cmd: [], Labels: { [`${CACHE}.lock`]: native.installation } }
  try {
    await engine.call({ method: 'POST', path: '/containers/create', query: { name: lock }, body, signal, deadlineMs: 120_000 })
    return true
  } catch (error) {
    if (statusOf(error) !== 409) throw error
  }
  const held = await engine.find<{ Created: string }>({ method: 'GET', path: `/containers/${lock}/json`, signal })
  if (held !== null && Date.now() - Date.parse(held.Created) > STALE_MS) {
    await engine.call({ method: 'DELETE', path: `/containers/${lock}`, signal }).catch(() => undefined)
  }
  return false
}

interface ListedVolume {
  readonly Name: string
  readonly CreatedAt: string
  readonly Labels: Readonly<Record<string, string>>
}

/** The oldest that nobody uses first, until the new copy has room. */
async function evict({ engine, native, context: { signal }, stageCacheBytes }: Submission, wanted: number): Promise<void> {
  const query = { filters: { label: [`${CACHE}=${native.installation}`] } }
  const { Volumes } = await engine.call<{ Volumes: readonly ListedVolume[] | null }>({ method: 'GET', path: '/volumes', query, signal })
  const marks = [...(Volumes ?? [])].sort((a, b) => Date.parse(a.CreatedAt) - Date.parse(b.CreatedAt))
  let total = marks.reduce((sum, { Labels }) => sum + Number(Labels[BYTES] ?? 0), wanted)
  for (const { Name, Labels } of marks) {
    if (total <= stageCacheBytes) return
    const volume = Name.replace(/-whole$/, '')
    const users = await engine.call<unknown[]>({
      method: 'GET',
      path: '/containers/json',
      query: { all: true, filters: { volume: [volume] } },
      signal,
    })
    if (users.length > 0) continue
    await engine.call({ method: 'DELETE', path: `/volumes/${Name}`, signal }).catch(() => undefined)
    await engine.call({ method: 'DELETE', path: `/volumes/${volume}`, signal }).catch(() => undefined)
    total -= Number(Labels[BYTES] ?? 0)
  }
}
