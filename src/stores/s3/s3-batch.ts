import { DeleteObjectsCommand } from '@aws-sdk/client-s3'
import { batchPrefix, copiedBatch } from '../copied-batch.ts'
import type { ObjectBatch } from '../object-store.ts'
import { copyObject } from './s3-copy.ts'
import { toStoreError } from './s3-errors.ts'
import { listKeys } from './s3-list.ts'
import { headObject, putObject, type S3Place } from './s3-objects.ts'

/** What one request deletes at the most (S3 API, DeleteObjects). */
const PAGE = 1000

export function s3Batch(place: S3Place, id: string): ObjectBatch {
  const own: S3Place = { ...place, prefix: batchPrefix(place.prefix, id) }
  return copiedBatch({
    batch: { write: (key, body, options) => putObject(own, key, { body, options }), list: (options) => listKeys(own, options) },
    drive: { head: (key, signal) => headObject(place, key, signal) },
    copy: (object, signal) => copyObject({ from: own, to: place }, object, signal),
    remove: (keys, signal) => deleteAll(own, keys, signal),
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
