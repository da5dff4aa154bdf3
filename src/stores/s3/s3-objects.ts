import { createHash, randomUUID } from 'node:crypto'
import { Transform, pipeline, type Readable } from 'node:stream'
import { HeadObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { StoreError, type ObjectInfo, type WriteOptions } from '../object-store.ts'
import { toStoreError } from './s3-errors.ts'

/** One prefix of a bucket; nothing outside of it is ever touched. */
export interface S3Place {
  readonly client: S3Client
  readonly bucket: string
  /** Empty, or ending in `/`. */
  readonly prefix: string
}

/** Of a part of a large object: with three on the way a writer holds 48 MiB. An object may have 10,000 (S3 user guide, limits). */
const PART_BYTES = 16 * 1024 * 1024
const PARTS_AT_ONCE = 3

/** The whole key of an object. Some servers resolve `..`, which would lead out of the prefix. @throws StoreError `not_found` */
export function wholeKey({ prefix }: S3Place, key: string): string {
  if (key.split('/').some((part) => part === '..' || part === '.')) throw new StoreError('not_found', `"${key}" can be no object`)
  return `${prefix}${key}`
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
  const gauge = new Gauge(options)
  const mark = randomUUID()
  const upload = new Upload({
    client: place.client,
    partSize: PART_BYTES,
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

/** Metadata of an object that names the upload which has made it. */
const MARK = 'berth-upload'

/**
 * What a failed upload has stored nevertheless: its answer was lost, and the SDK was told on its next try that the object
 * is there, or that there is no such upload any more.
 */
async function storedBy(place: S3Place, key: string, { mark, signal }: { mark: string; signal: AbortSignal }): Promise<ObjectInfo | null> {
  const command = new HeadObjectCommand({ Bucket: place.bucket, Key: wholeKey(place, key) })
  const facts = await place.client.send(command, { abortSignal: signal }).catch(() => null)
  return facts?.Metadata?.[MARK] === mark ? infoOf(key, facts) : null
}

/** Counts and hashes what passes, and breaks off what is too much or not what was said, before the last part is sent. */
class Gauge extends Transform {
  bytes = 0
  digest = ''
  failure: StoreError | null = null
  readonly #hash = createHash('sha256')
  readonly #options: WriteOptions

  constructor(options: WriteOptions) {
    super({ highWaterMark: 1024 * 1024 })
    this.#options = options
    this.once('error', (error) => (this.failure ??= new StoreError('unavailable', 'the upload was cut off', { cause: error })))
  }

  override _transform(chunk: Buffer, _encoding: string, done: (error?: Error | null, chunk?: Buffer) => void): void {
    this.bytes += chunk.byteLength
    const { maxBytes = Infinity } = this.#options
    if (this.bytes > maxBytes) return done(this.#fail('too_large', `more than the ${maxBytes} bytes that are still allowed`))
    this.#hash.update(chunk)
    done(null, chunk)
  }

  override _flush(done: (error?: Error | null) => void): void {
    this.digest = this.#hash.digest('hex')
    const { sha256 } = this.#options
    if (sha256 === undefined || sha256 === this.digest) return done()
    done(this.#fail('digest_mismatch', `the bytes hash to sha-256 ${this.digest}, not to ${sha256}`))
  }

  #fail(kind: 'too_large' | 'digest_mismatch', words: string): StoreError {
    this.failure = new StoreError(kind, words)
    return this.failure
  }
}
