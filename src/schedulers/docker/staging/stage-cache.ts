import { randomBytes } from 'node:crypto'
import type { StagedTree } from '../../scheduler.ts'
import { statusOf } from '../engine.ts'
import type { Submission } from '../submission.ts'

/** Labels: the installation on every mark and every copy; of a mark also which copy it stands for, and its bytes. */
const MARK = 'berth.cache.mark'
const COPY = 'berth.cache.copy'
const OF = 'berth.cache.of'
const BYTES = 'berth.cache.bytes'

/** Copies under way in this process, by mark: two jobs that want the same wait for one. */
const underWay = new Map<string, Promise<string>>()

/**
 * The volume with a copy of this tree, made if it is not there. A mark, a volume of its own that is made after the copy
 * is whole, names it: whoever makes the mark first has won, and what a crash has cut off has none.
 */
export async function ensureCached(submission: Submission, tree: StagedTree, fill: (volume: string) => Promise<void>): Promise<string> {
  const { engine, native: { installation } } = submission
  const mark = `berth-${installation}-cache-${tree.version.slice(0, 32)}`
  const known = await markedCopy(submission, mark)
  if (known !== null) return known
  const key = `${engine.host} ${mark}`
  const work = underWay.get(key) ?? make(submission, { mark, tree, fill }).finally(() => underWay.delete(key))
  underWay.set(key, work)
  return work
}

/** Whether the copy is still marked. */
export const isCached = async (submission: Submission, volume: string): Promise<boolean> =>
  (await markedCopy(submission, volume.replace(/-[0-9a-f]{8}$/, ''))) === volume

async function markedCopy({ engine, context }: Submission, mark: string): Promise<string | null> {
  const found = await engine.find<ListedVolume>({ method: 'GET', path: `/volumes/${mark}`, signal: context.signal })
  return found?.Labels?.[OF] ?? null
}

interface Making {
  readonly mark: string
  readonly tree: StagedTree
  readonly fill: (volume: string) => Promise<void>
}

async function make(submission: Submission, { mark, tree, fill }: Making): Promise<string> {
  const { native } = submission
  const volume = `${mark}-${randomBytes(4).toString('hex')}`
  await evict(submission, tree.totalBytes)
  await createVolume(submission, volume, { [COPY]: native.installation })
  try {
    await fill(volume)
    await createVolume(submission, mark, { [MARK]: native.installation, [OF]: volume, [BYTES]: String(tree.totalBytes) })
  } catch (error) {
    await deleteVolume(submission, volume).catch(() => undefined)
    throw error
  }
  const winner = (await markedCopy(submission, mark)) ?? volume
  if (winner !== volume) await deleteVolume(submission, volume)
  return winner
}

/** One of that name that is there already stays as it is. */
const createVolume = (
  { engine, context: { signal } }: Submission,
  Name: string,
  Labels: Readonly<Record<string, string>>,
): Promise<unknown> => engine.call({ method: 'POST', path: '/volumes/create', body: { Name, Labels }, signal })

/** Not what is in use. */
async function deleteVolume({ engine }: Submission, volume: string): Promise<void> {
  try {
    await engine.call({ method: 'DELETE', path: `/volumes/${volume}`, signal: AbortSignal.timeout(30_000) })
  } catch (error) {
    if (![404, 409].includes(statusOf(error) ?? 0)) throw error
  }
}

interface ListedVolume {
  readonly Name: string
  readonly CreatedAt: string
  readonly Labels: Readonly<Record<string, string>> | null
}

/** A copy without a mark that is so old is one that a crash has left. */
const ABANDONED_MS = 60 * 60_000

/** The oldest that nobody uses first, until the new copy has room; and what was left by a crash. */
async function evict(submission: Submission, wanted: number): Promise<void> {
  const { native: { installation }, stageCacheBytes } = submission
  const marks = await listVolumes(submission, `${MARK}=${installation}`)
  let total = marks.reduce((sum, { Labels }) => sum + Number(Labels?.[BYTES] ?? 0), wanted)
  for (const { Name, Labels } of marks) {
    const copy = Labels?.[OF] ?? ''
    if (total <= stageCacheBytes) break
    if (await isUsed(submission, copy)) continue
    await deleteVolume(submission, Name)
    await deleteVolume(submission, copy)
    total -= Number(Labels?.[BYTES] ?? 0)
  }
  const marked = new Set(marks.map(({ Labels }) => Labels?.[OF]))
  for (const { Name, CreatedAt } of await listVolumes(submission, `${COPY}=${installation}`)) {
    if (!marked.has(Name) && Date.now() - Date.parse(CreatedAt) > ABANDONED_MS) await deleteVolume(submission, Name)
  }
}

async function listVolumes({ engine, context: { signal } }: Submission, label: string): Promise<readonly ListedVolume[]> {
  const query = { filters: { label: [label] } }
  const { Volumes } = await engine.call<{ Volumes: readonly ListedVolume[] | null }>({ method: 'GET', path: '/volumes', query, signal })
  return [...(Volumes ?? [])].sort((a, b) => Date.parse(a.CreatedAt) - Date.parse(b.CreatedAt))
}

async function isUsed({ engine, context: { signal } }: Submission, volume: string): Promise<boolean> {
  const query = { all: true, filters: { volume: [volume] } }
  return (await engine.call<unknown[]>({ method: 'GET', path: '/containers/json', query, signal })).length > 0
}
