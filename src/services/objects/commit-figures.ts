import type { DriveSnapshot } from '../../domain/drives/drive.ts'
import { inLanes } from '../../in-lanes.ts'
import { StoreError, type ObjectInfo, type ObjectStore, type OnConflict } from '../../stores/object-store.ts'
import type { ServiceDeps } from '../service-deps.ts'

/** What a commit will have changed; known before it begins, so that whoever finishes it tells the same. */
export interface CommitFigures {
  readonly count: number
  readonly bytes: number
  /** The first of them. */
  readonly keys: readonly string[]
  /** What is there afterwards and was not before; counted for managed drives. */
  readonly addedBytes: number
  readonly addedObjects: number
}

export interface Comparison {
  readonly drive: DriveSnapshot
  readonly store: ObjectStore
  readonly onConflict: OnConflict
  readonly signal: AbortSignal
}

/** Keys that an event names at the most. */
const MOST_KEYS = 100
const LOOKS_AT_ONCE = 16

/** Compares the objects of a batch with what lies at their places now. */
export async function commitFigures(comparison: Comparison, objects: readonly ObjectInfo[]): Promise<CommitFigures> {
  const { drive, store, onConflict, signal } = comparison
  const isManaged = drive.source.kind === 'managed'
  const old =
    isManaged || onConflict === 'keep'
      ? await inLanes(LOOKS_AT_ONCE, objects, async ({ key }) => (await store.head(key, signal))?.size ?? null)
      : objects.map(() => null)
  const placed = objects
    .map((object, place) => ({ ...object, old: old[place] ?? null }))
    .filter((object) => onConflict !== 'keep' || object.old === null)
  const bytes = sum(placed.map(({ size }) => size))
  return {
    count: placed.length,
    bytes,
    keys: placed.slice(0, MOST_KEYS).map(({ key }) => key),
    addedBytes: isManaged ? bytes - sum(placed.map((object) => object.old ?? 0)) : 0,
    addedObjects: isManaged ? placed.filter((object) => object.old === null).length : 0,
  }
}

/** @throws StoreError `too_large` where the drive would hold more than its quota */
export async function refuseOverQuota(deps: ServiceDeps, { id, source }: DriveSnapshot, added: CommitFigures): Promise<void> {
  if (source.kind !== 'managed' || (source.maxBytes === null && source.maxObjects === null)) return
  const { rows } = await deps.pool.query<{ bytes: number; objects: number }>(
    'SELECT used_bytes::float8 AS bytes, used_objects::float8 AS objects FROM drive WHERE id = $1',
    [id],
  )
  const bytes = (rows[0]?.bytes ?? 0) + added.addedBytes
  const objects = (rows[0]?.objects ?? 0) + added.addedObjects
  if (source.maxBytes !== null && bytes > source.maxBytes)
    throw new StoreError('too_large', `the drive would hold ${bytes} of ${source.maxBytes} bytes`)
  if (source.maxObjects !== null && objects > source.maxObjects) {
    throw new StoreError('too_large', `the drive would hold ${objects} of ${source.maxObjects} objects`)
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
