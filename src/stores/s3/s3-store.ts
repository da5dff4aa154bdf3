import { PassThrough, type Readable } from 'node:stream'
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { StoreError, type ObjectStore, type ReadOptions } from '../object-store.ts'
import { s3Batch } from './s3-batch.ts'
import { toStoreError } from './s3-errors.ts'
import { listKeys } from './s3-list.ts'
import { headObject, putObject, wholeKey, type S3Place } from './s3-objects.ts'

/** A bucket, or what lies below a prefix of it, on AWS or a compatible server. */
export function s3Store(place: S3Place): ObjectStore {
  const { client, bucket } = place
  const at = (key: string) => ({ Bucket: bucket, Key: wholeKey(place, key) })
  return {
    head: (key, signal) => headObject(place, key, signal),
    async read(key, { range, ifMatch, signal }: ReadOptions) {
      const Range = range && `bytes=${range.start}-${range.end}`
      const answer = await client
        .send(new GetObjectCommand({ ...at(key), Range, IfMatch: ifMatch }), { abortSignal: signal })
        .catch(rethrow)
      return explainedBody(answer.Body as Readable, signal)
    },
    write: (key, body, options) => putObject(place, key, { body, options }),
    async remove(key, { ifMatch, signal }) {
      const there = await headObject(place, key, signal)
      if (there === null) return false
      if (ifMatch !== undefined && ifMatch !== there.etag) throw new StoreError('precondition_failed', `"${key}" has changed`)
      await client.send(new DeleteObjectCommand({ ...at(key), IfMatch: ifMatch }), { abortSignal: signal }).catch(rethrow)
      return true
    },
    list: (options) => listKeys(place, options),
    batch: (id) => s3Batch(place, id),
    presign: (key, { method, expiresInSeconds }) =>
      getSignedUrl(client, method === 'GET' ? new GetObjectCommand(at(key)) : new PutObjectCommand(at(key)), {
        expiresIn: expiresInSeconds,
      }),
  }
}

const rethrow = (error: unknown): never => {
  throw toStoreError(error)
}

/** A body that breaks off tells it as an error of the store. */
function explainedBody(body: Readable, signal: AbortSignal): Readable {
  const out = new PassThrough({ highWaterMark: 1024 * 1024, signal })
  body.once('error', (error) => out.destroy(new StoreError('unavailable', 'the server broke off', { cause: error })))
  out.once('close', () => body.destroy())
  return body.pipe(out)
}
