import { setMaxListeners } from 'node:events'
import { DeleteObjectsCommand } from '@aws-sdk/client-s3'
import { inLanes } from '../../in-lanes.ts'
import { RESERVED } from '../../domain/drives/object-key.ts'
import { StoreError, type ObjectBatch, type ObjectInfo } from '../object-store.ts'
import { copyObject } from './s3-copy.ts'
import { toStoreError } from './s3-errors.ts'
import { listKeys } from './s3-list.ts'
import { headObject, putObject, type S3Place } from './s3-objects.ts'

const PAGE = 1000
const MOST_NAMED = 10
const AT_ONCE = 8

/**
 * Objects below `.berth/batches/<id>/`, which no list shows, copied into place by the server. They are deleted from the
 * batch after all of them were copied: one that is gone was copied by another.
 */
export function s3Batch(place: S3Place, id: string): ObjectBatch {
  const own: S3Place = { ...place, prefix: `${place.prefix}${RESERVED}/batches/${id}/` }
  const keysOf = async (signal: AbortSignal): Promise<string[]> => (await everyKey(own, signal)).map(({ key }) => key)
  return {
    write: (key, body, options) => putObject(own, key, { body, options }),
    keys: (signal) => everyKey(own, signal),
    async check({ onConflict, signal }) {
      if (onConflict === 'fail') await refuseObstacles(place, await keysOf(signal), signal)
    },
    async commit({ onConflict, signal }) {
      setMaxListeners(0, signal)
      const objects = await everyKey(own, signal)
      await inLanes(AT_ONCE, objects, async (object) => {
        if (onConflict === 'keep' && (await headObject(place, object.key, signal)) !== null) return
        await copyObject({ from: own, to: place }, object, signal)
      })
      await deleteAll(
        own,
        objects.map(({ key }) => key),
        signal,
      )
    },
    async abandon(signal) {
      await deleteAll(own, await keysOf(signal), signal)
    },
  }
}

async function everyKey(place: S3Place, signal: AbortSignal): Promise<ObjectInfo[]> {
  const all: ObjectInfo[] = []
  let after: string | null = null
  do {
    const page = await listKeys(place, { prefix: '', delimiter: null, after, limit: PAGE, signal })
    all.push(...page.objects)
    after = page.next
  } while (after !== null)
  return all
}

async function refuseObstacles(place: S3Place, keys: readonly string[], signal: AbortSignal): Promise<void> {
  const inTheWay: string[] = []
  await inLanes(AT_ONCE, keys, async (key) => {
    if ((await headObject(place, key, signal)) !== null) inTheWay.push(key)
  })
  if (inTheWay.length === 0) return
  const more = inTheWay.length > MOST_NAMED ? ` and ${inTheWay.length - MOST_NAMED} more` : ''
  throw new StoreError('precondition_failed', `already there: ${inTheWay.slice(0, MOST_NAMED).join(', ')}${more}`)
}

export async function deleteAll({ client, bucket, prefix }: S3Place, keys: readonly string[], signal: AbortSignal): Promise<void> {
  for (let from = 0; from < keys.length; from += PAGE) {
    const Objects = keys.slice(from, from + PAGE).map((key) => ({ Key: `${prefix}${key}` }))
    await client
      .send(new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } }), { abortSignal: signal })
      .catch((error: unknown) => {
        throw toStoreError(error)
      })
  }
}
