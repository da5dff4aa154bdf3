import { randomUUID } from 'node:crypto'
import { pipeline, type Readable } from 'node:stream'
import { HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import type { ObjectInfo, WriteOptions } from '../object-store.ts'
import { partBytes, PARTS_AT_ONCE } from '../part-size.ts'
import { UploadGauge } from '../upload-gauge.ts'
import { MARK, wholeKey } from '../bucket-keys.ts'
import { toStoreError } from './s3-errors.ts'

/** One prefix of a bucket; nothing outside of it is ever touched. */
export interface S3Place {
  readonly client: S3Client
  readonly bucket: string
  /** Empty, or ending in `/`. */
  readonly prefix: string
}

/** Null if there is none. @throws StoreError */
export async function headObject(place: S3Place, key: string, signal: AbortSignal): Promise<ObjectInfo | null> {
  try {
    const command = new HeadObjectCommand({ Bucket: place.bucket, Key: wholeKey(place, key) })
    return infoOf(key, await place.client.send(command, { abortSignal: signal }))
  } catch (error) {
    const explained = toStoreError(error)
    if (explained.kind === 'not_found') return null
    throw explained
  }
}

interface Facts {
  readonly ContentLength?: number | undefined
  readonly ETag?: string | undefined
  readonly LastModified?: Date | undefined
  readonly ContentType?: string | undefined
  readonly Metadata?: Record<string, string> | undefined
}

export const infoOf = (key: string, { ContentLength, ETag, LastModified, ContentType, Metadata }: Facts): ObjectInfo => ({
  key,
  size: ContentLength ?? 0,
  etag: ETag ?? '""',
  modifiedAt: LastModified ?? new Date(0),
  contentType: ContentType ?? null,
  sha256: Metadata?.['sha256'] ?? null,
})

/** An object is visible only once all of its parts are there, and were the right ones. */
export async function putObject(
  place: S3Place,
  key: string,
  { body, options }: { body: Readable; options: WriteOptions },
): Promise<ObjectInfo> {
  const { condition, contentType, sha256, signal } = options
  const gauge = new UploadGauge(options)
  const mark = randomUUID()
  const upload = new Upload({
    client: place.client,
    partSize: partBytes(options.size),
    queueSize: PARTS_AT_ONCE,
    params: {
      Bucket: place.bucket,
      Key: wholeKey(place, key),
      Body: pipeline(body, gauge, () => undefined),
      ...(contentType !== undefined && { ContentType: contentType }),
      Metadata: { [MARK]: mark, ...(sha256 !== undefined && { sha256 }) },
      ...(condition?.kind === 'never' && { IfNoneMatch: '*' }),
      ...(condition?.kind === 'match' && { IfMatch: condition.etag }),
    },
  })
  const abort = (): void => void upload.abort()
  signal.addEventListener('abort', abort, { once: true })
  try {
    const { ETag } = await upload.done()
    return { key, size: gauge.bytes, etag: ETag ?? '""', modifiedAt: new Date(), contentType: contentType ?? null, sha256: gauge.digest }
  } catch (error) {
    const stored = gauge.failure === null ? await storedBy(place, key, { mark, signal }) : null
    if (stored !== null) return { ...stored, sha256: gauge.digest }
    throw gauge.failure ?? toStoreError(error)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/**
 * What a failed upload has stored nevertheless: its answer was lost, and the SDK was told on its next try that the object
 * is there, or that there is no such upload any more.
 */
async function storedBy(place: S3Place, key: string, { mark, signal }: { mark: string; signal: AbortSignal }): Promise<ObjectInfo | null> {
  const command = new HeadObjectCommand({ Bucket: place.bucket, Key: wholeKey(place, key) })
  const facts = await place.client.send(command, { abortSignal: signal }).catch(() => null)
  return facts?.Metadata?.[MARK] === mark ? infoOf(key, facts) : null
}
