import { randomUUID } from 'node:crypto'
import { pipeline, type Readable } from 'node:stream'
import type { BlobItem, BlobPrefix, BlobRequestConditions, BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import { MARK, wholeKey } from '../bucket-keys.ts'
import type { ListOptions, ObjectInfo, ObjectPage, WriteCondition, WriteOptions } from '../object-store.ts'
import { partBytes, PARTS_AT_ONCE } from '../part-size.ts'
import { UploadGauge } from '../upload-gauge.ts'
import { RESERVED } from '../../domain/drives/object-key.ts'
import { toStoreError } from './azure-errors.ts'

/** One prefix of a container; nothing outside of it is ever touched. */
export interface AzurePlace {
  readonly client: ContainerClient
  /** Empty, or ending in `/`. */
  readonly prefix: string
}

/** Most that a page may have (List Blobs, maxresults). */
const MOST_BLOBS = 5000

/** @throws StoreError `not_found` for a key that can be none */
export const blobAt = (place: AzurePlace, key: string): BlockBlobClient => place.client.getBlockBlobClient(wholeKey(place, key))

interface Facts {
  readonly contentLength?: number | undefined
  readonly etag?: string | undefined
  readonly lastModified?: Date | undefined
  readonly contentType?: string | undefined
  readonly metadata?: Record<string, string> | undefined
}

const infoOf = (key: string, { contentLength, etag, lastModified, contentType, metadata }: Facts): ObjectInfo => ({
  key,
  size: contentLength ?? 0,
  etag: quoted(etag),
  modifiedAt: lastModified ?? new Date(0),
  contentType: contentType ?? null,
  sha256: metadata?.['sha256'] ?? null,
})

/** A list gives tags without quotes, a header with them. */
const quoted = (etag = ''): string => (etag.startsWith('"') ? etag : `"${etag}"`)

/** Null if there is none. @throws StoreError */
export async function headBlob(place: AzurePlace, key: string, signal: AbortSignal): Promise<ObjectInfo | null> {
  try {
    return infoOf(key, await blobAt(place, key).getProperties({ abortSignal: signal }))
  } catch (error) {
    const explained = toStoreError(error)
    if (explained.kind === 'not_found') return null
    throw explained
  }
}

/** A blob is visible only once all of its blocks are there, and were the right ones. */
export async function putBlob(
  place: AzurePlace,
  key: string,
  { body, options }: { body: Readable; options: WriteOptions },
): Promise<ObjectInfo> {
  const { condition, contentType, sha256, signal } = options
  const gauge = new UploadGauge(options)
  const mark = randomUUID()
  try {
    const blob = blobAt(place, key)
    const { etag } = await blob.uploadStream(
      pipeline(body, gauge, () => undefined),
      partBytes(options.size),
      PARTS_AT_ONCE,
      {
        abortSignal: signal,
        conditions: conditionsOf(condition),
        metadata: { [MARK]: mark, ...(sha256 !== undefined && { sha256 }) },
        ...(contentType !== undefined && { blobHTTPHeaders: { blobContentType: contentType } }),
      },
    )
    const facts = { contentLength: gauge.bytes, etag, lastModified: new Date(), contentType }
    return { ...infoOf(key, facts), sha256: gauge.digest }
  } catch (error) {
    const stored = gauge.failure === null ? await storedBy(place, key, { mark, signal }) : null
    if (stored !== null) return { ...stored, sha256: gauge.digest }
    throw gauge.failure ?? toStoreError(error)
  }
}

function conditionsOf(condition: WriteCondition | undefined): BlobRequestConditions {
  if (condition === undefined) return {}
  return condition.kind === 'never' ? { ifNoneMatch: '*' } : { ifMatch: condition.etag }
}

/** What a failed upload has stored nevertheless: its answer was lost, and the next try met the blob it had made. */
async function storedBy(
  place: AzurePlace,
  key: string,
  { mark, signal }: { mark: string; signal: AbortSignal },
): Promise<ObjectInfo | null> {
  const facts = await blobAt(place, key)
    .getProperties({ abortSignal: signal })
    .catch(() => null)
  return facts?.metadata?.[MARK] === mark ? infoOf(key, facts) : null
}

/** A page of a container's blobs below the drive's prefix, without what Berth keeps there. `next` is Azure's own marker. */
export async function listBlobs({ client, prefix }: AzurePlace, options: ListOptions): Promise<ObjectPage> {
  const asked = { prefix: `${prefix}${options.prefix}`, abortSignal: options.signal }
  const page = { maxPageSize: Math.min(options.limit, MOST_BLOBS), ...(options.after !== null && { continuationToken: options.after }) }
  const { segment, continuationToken } = await firstOf(
    options.delimiter === null
      ? client.listBlobsFlat(asked).byPage(page)
      : client.listBlobsByHierarchy(options.delimiter, asked).byPage(page),
  )
  const own = (name: string): string => name.slice(prefix.length)
  const isOurs = (key: string): boolean => key.startsWith(`${RESERVED}/`)
  return {
    objects: segment.blobItems
      .map(({ name, properties }) => infoOf(own(name), properties))
      .filter(({ key }) => !isOurs(key) && key !== '' && !key.endsWith('/')),
    prefixes: (segment.blobPrefixes ?? []).map(({ name }) => own(name)).filter((key) => !isOurs(key)),
    next: continuationToken || null,
  }
}

interface BlobPage {
  readonly segment: { readonly blobItems: readonly BlobItem[]; readonly blobPrefixes?: readonly BlobPrefix[] }
  readonly continuationToken?: string
}

async function firstOf(pages: AsyncIterableIterator<BlobPage>): Promise<BlobPage> {
  try {
    const { value } = (await pages.next()) as { value: BlobPage }
    return value
  } catch (error) {
    throw toStoreError(error)
  }
}
