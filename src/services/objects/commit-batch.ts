import type { DriveSnapshot } from '../../domain/drives/drive.ts'
import { StoreError, type ObjectInfo, type ObjectStore } from '../../stores/object-store.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { recordChange } from './record-change.ts'

export interface Commit {
  readonly drive: DriveSnapshot
  readonly store: ObjectStore
  readonly batchId: string
  readonly onConflict: 'fail' | 'replace' | 'keep'
  readonly signal: AbortSignal
}

/** Keys that an event names at the most. */
const MOST_KEYS = 100
const LOOKS_AT_ONCE = 16

/**
 * Makes a batch visible. A note of it lies in the database until it is, so that whoever finds it can finish what a crash
 * has interrupted.
 *
 * @throws StoreError `precondition_failed`, `conflict`, `too_large` over the drive's quota; nothing is visible then
 */
export async function commitBatch(deps: ServiceDeps, commit: Commit): Promise<readonly ObjectInfo[]> {
  const { drive, store, batchId, onConflict, signal } = commit
  const batch = store.batch(batchId)
  if (drive.id === null) return batch.commit({ onConflict, signal })
  const before = await sizesBefore(commit, await batch.keys(signal))
  await refuseOverQuota(deps, drive, before)
  await deps.pool.query(`INSERT INTO drive_commit (id, drive_id, on_conflict) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, [
    batchId,
    drive.id,
    onConflict,
  ])
  const placed = await batch.commit({ onConflict, signal }).catch(async (error: unknown) => {
    if (isRefusal(error)) await deps.pool.query('DELETE FROM drive_commit WHERE id = $1', [batchId])
    throw error
  })
  await recordChange(deps, {
    driveId: drive.id,
    type: 'objects_committed',
    data: { count: placed.length, bytes: sum(placed.map(({ size }) => size)), keys: placed.slice(0, MOST_KEYS).map(({ key }) => key) },
    bytes: sum(placed.map(({ key, size }) => size - (before.get(key)?.old ?? 0))),
    objects: placed.filter(({ key }) => before.get(key)?.old === null).length,
    commitId: batchId,
  })
  return placed
}

type Sizes = ReadonlyMap<string, { readonly size: number; readonly old: number | null }>

/** What each object of the batch takes, and what lies at its place now; only managed drives are counted. */
async function sizesBefore({ drive, store, signal }: Commit, objects: readonly ObjectInfo[]): Promise<Sizes> {
  const sizes = new Map<string, { size: number; old: number | null }>()
  if (drive.source.kind !== 'managed') return sizes
  for (let from = 0; from < objects.length; from += LOOKS_AT_ONCE) {
    await Promise.all(
      objects.slice(from, from + LOOKS_AT_ONCE).map(async ({ key, size }) => {
        sizes.set(key, { size, old: (await store.head(key, signal))?.size ?? null })
      }),
    )
  }
  return sizes
}

async function refuseOverQuota(deps: ServiceDeps, { id, source }: DriveSnapshot, sizes: Sizes): Promise<void> {
  if (source.kind !== 'managed' || (source.maxBytes === null && source.maxObjects === null)) return
  const { rows } = await deps.pool.query<{ bytes: number; objects: number }>(
    'SELECT used_bytes::float8 AS bytes, used_objects::float8 AS objects FROM drive WHERE id = $1',
    [id],
  )
  const all = [...sizes.values()]
  const bytes = (rows[0]?.bytes ?? 0) + sum(all.map(({ size, old }) => size - (old ?? 0)))
  const objects = (rows[0]?.objects ?? 0) + all.filter(({ old }) => old === null).length
  if (source.maxBytes !== null && bytes > source.maxBytes)
    throw new StoreError('too_large', `the drive would hold ${bytes} of ${source.maxBytes} bytes`)
  if (source.maxObjects !== null && objects > source.maxObjects) {
    throw new StoreError('too_large', `the drive would hold ${objects} of ${source.maxObjects} objects`)
  }
}

const isRefusal = (error: unknown): boolean =>
  error instanceof StoreError && (error.kind === 'precondition_failed' || error.kind === 'conflict')

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** Finishes commits of a drive that were interrupted, so that nobody sees half of one. */
export async function finishCommits(
  deps: ServiceDeps,
  { drive, store, signal }: Pick<Commit, 'drive' | 'store' | 'signal'>,
): Promise<void> {
  const { rows } = await deps.pool.query<{ id: string; on_conflict: Commit['onConflict'] }>({
    name: 'pending_commits',
    text: 'SELECT id, on_conflict FROM drive_commit WHERE drive_id = $1 ORDER BY created_at',
    values: [drive.id],
  })
  for (const { id, on_conflict: onConflict } of rows) await commitBatch(deps, { drive, store, batchId: id, onConflict, signal })
}
