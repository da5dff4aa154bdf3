import type { Readable } from 'node:stream'
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { wholeKey } from '../bucket-keys.ts'
import { explainedBody } from '../explained-body.ts'
import { StoreError, type ObjectStore, type ReadOptions } from '../object-store.ts'
import { s3Batch } from './s3-batch.ts'
import { toStoreError } from './s3-errors.ts'
import { listKeys } from './s3-list.ts'
import { headObject, putObject, type S3Place } from './s3-objects.ts'

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
      getSignedUrl(withoutChecksum(client), method === 'GET' ? new GetObjectCommand(at(key)) : new PutObjectCommand(at(key)), {
        expiresIn: expiresInSeconds,
      }),
  }
}

/** A URL that the SDK makes as it is would hold the checksum of an empty body, and servers refuse any other. */
function withoutChecksum({ config: { credentials, region, endpoint, forcePathStyle } }: S3Client): S3Client {
  return new S3Client({ credentials, region, forcePathStyle, ...(endpoint && { endpoint }), requestChecksumCalculation: 'WHEN_REQUIRED' })
}

const rethrow = (error: unknown): never => {
  throw toStoreError(error)
}
