import { Readable } from 'node:stream'
import { CopyObjectCommand, DeleteObjectsCommand } from '@aws-sdk/client-s3'
import { RESERVED } from '../../domain/drives/object-key.ts'
import { StoreError, type ObjectBatch, type ObjectInfo } from '../object-store.ts'
import { toStoreError } from './s3-errors.ts'
import { listKeys } from './s3-list.ts'
import { headObject, putObject, type S3Place } from './s3-objects.ts'

const PAGE = 1000
const MOST_NAMED = 10

/**
 * Objects below `.berth/batches/<id>/`, which no list shows, copied into place by the server. Once the mark is there all
 * of them are copied, by whoever comes; each is deleted from the batch only after that.
 */
export function s3Batch(place: S3Place, id: string): ObjectBatch {
  const own: S3Place = { ...place, prefix: `${place.prefix}${RESERVED}/batches/${id}/objects/` }
  const marks: S3Place = { ...place, prefix: `${place.prefix}${RESERVED}/batches/${id}/` }
  return {
    write: (key, body, options) => putObject(own, key, { body, options }),
    keys: (signal) => everyKey(own, signal),
    async commit({ onConflict, signal }) {
      const all = await everyKey(own, signal)
      if (all.length > 0 && (await headObject(marks, 'committing', signal)) === null) {
        if (onConflict === 'fail') await refuseObstacles(place, all, signal)
        await putObject(marks, 'committing', { body: Readable.from([Buffer.from(onConflict)]), options: { signal } })
      }
      const placed: ObjectInfo[] = []
      for (const object of all) {
        if (onConflict === 'keep' && (await headObject(place, object.key, signal)) !== null) continue
        await copy({ from: own, to: place }, object.key, signal)
        placed.push(object)
      }
      await deleteAll(
        own,
        all.map(({ key }) => key),
        signal,
      )
      await deleteAll(marks, ['committing'], signal)
      return placed
    },
    async abandon(signal) {
      await deleteAll(
        own,
        (await everyKey(own, signal)).map(({ key }) => key),
        signal,
      )
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

async function refuseObstacles(place: S3Place, objects: readonly ObjectInfo[], signal: AbortSignal): Promise<void> {
  const inTheWay: string[] = []
  for (const { key } of objects) if ((await headObject(place, key, signal)) !== null) inTheWay.push(key)
  if (inTheWay.length === 0) return
  const more = inTheWay.length > MOST_NAMED ? ` and ${inTheWay.length - MOST_NAMED} more` : ''
  throw new StoreError('precondition_failed', `already there: ${inTheWay.slice(0, MOST_NAMED).join(', ')}${more}`)
}

async function copy({ from, to }: { from: S3Place; to: S3Place }, key: string, signal: AbortSignal): Promise<void> {
  const source = `${from.bucket}/${from.prefix}${key}`.split('/').map(encodeURIComponent).join('/')
  const command = new CopyObjectCommand({ Bucket: to.bucket, Key: `${to.prefix}${key}`, CopySource: source })
  await to.client.send(command, { abortSignal: signal }).catch((error: unknown) => {
    throw toStoreError(error)
  })
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
