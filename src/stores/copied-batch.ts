import { setMaxListeners } from 'node:events'
import { RESERVED } from '../domain/drives/object-key.ts'
import { inLanes } from '../in-lanes.ts'
import { StoreError, type ObjectBatch, type ObjectInfo, type ObjectStore } from './object-store.ts'

const PAGE = 1000
const MOST_NAMED = 10
const AT_ONCE = 8

/** Where the objects of a batch wait below a bucket's prefix; no list shows it. */
export const batchPrefix = (prefix: string, id: string): string => `${prefix}${RESERVED}/batches/${id}/`

/** What a server does for a batch. */
export interface BatchPlace {
  /** What waits in the batch. */
  readonly batch: Pick<ObjectStore, 'write' | 'list'>
  /** Where it is to become visible. */
  readonly drive: Pick<ObjectStore, 'head'>
  /** Has the server copy an object into its place, with its type and metadata. A copy of what is gone is none. */
  copy(object: ObjectInfo, signal: AbortSignal): Promise<void>
  /** Deletes objects of the batch; those that are gone are no error. */
  remove(keys: readonly string[], signal: AbortSignal): Promise<void>
}

/**
 * Objects that wait beside the drive and are copied into place by the server. They are deleted from the batch after all of
 * them were copied: one that is gone was copied by another.
 */
export function copiedBatch(place: BatchPlace): ObjectBatch {
  const { batch, drive } = place
  const objects = (signal: AbortSignal): Promise<ObjectInfo[]> => everyObject(batch, signal)
  const keys = async (signal: AbortSignal): Promise<string[]> => (await objects(signal)).map(({ key }) => key)
  return {
    write: (key, body, options) => batch.write(key, body, options),
    keys: objects,
    async check({ onConflict, signal }) {
      if (onConflict === 'fail') await refuseObstacles(drive, await keys(signal), signal)
    },
    async commit({ onConflict, signal }) {
      setMaxListeners(0, signal)
      const waiting = await objects(signal)
      await inLanes(AT_ONCE, waiting, async (object) => {
        if (onConflict === 'keep' && (await drive.head(object.key, signal)) !== null) return
        await place.copy(object, signal)
      })
      await place.remove(
        waiting.map(({ key }) => key),
        signal,
      )
    },
    async abandon(signal) {
      await place.remove(await keys(signal), signal)
    },
  }
}

async function everyObject(store: Pick<ObjectStore, 'list'>, signal: AbortSignal): Promise<ObjectInfo[]> {
  const all: ObjectInfo[] = []
  let after: string | null = null
  do {
    const page = await store.list({ prefix: '', delimiter: null, after, limit: PAGE, signal })
    all.push(...page.objects)
    after = page.next
  } while (after !== null)
  return all
}

async function refuseObstacles(drive: Pick<ObjectStore, 'head'>, keys: readonly string[], signal: AbortSignal): Promise<void> {
  const inTheWay: string[] = []
  await inLanes(AT_ONCE, keys, async (key) => {
    if ((await drive.head(key, signal)) !== null) inTheWay.push(key)
  })
  if (inTheWay.length === 0) return
  const more = inTheWay.length > MOST_NAMED ? ` and ${inTheWay.length - MOST_NAMED} more` : ''
  throw new StoreError('precondition_failed', `already there: ${inTheWay.slice(0, MOST_NAMED).join(', ')}${more}`)
}
