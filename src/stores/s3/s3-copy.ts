import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { inLanes } from '../../in-lanes.ts'
import type { ObjectInfo } from '../object-store.ts'
import { toStoreError } from './s3-errors.ts'
import type { S3Place } from './s3-objects.ts'

/** What one request copies at the most (S3 user guide, limits). */
const WHOLE_BYTES = 5 * 1024 ** 3
const PART_BYTES = 1024 ** 3
const PARTS_AT_ONCE = 4

interface Places {
  readonly from: S3Place
  readonly to: S3Place
}

export interface CopySizes {
  /** Larger objects are copied part by part. */
  readonly wholeBytes: number
  readonly partBytes: number
}

/** Has the server copy an object, with its type and metadata. A copy of what is gone is none. @throws StoreError */
export async function copyObject(
  places: Places,
  { key, size }: Pick<ObjectInfo, 'key' | 'size'>,
  signal: AbortSignal,
  { wholeBytes, partBytes }: CopySizes = { wholeBytes: WHOLE_BYTES, partBytes: PART_BYTES },
): Promise<void> {
  try {
    await (size <= wholeBytes ? copyWhole(places, key, signal) : copyParts(places, { key, size, partBytes }, signal))
  } catch (error) {
    const failure = toStoreError(error)
    if (failure.kind !== 'not_found') throw failure
  }
}

const sourceOf = ({ bucket, prefix }: S3Place, key: string): string =>
  `${bucket}/${prefix}${key}`.split('/').map(encodeURIComponent).join('/')

async function copyWhole({ from, to }: Places, key: string, signal: AbortSignal): Promise<void> {
  const command = new CopyObjectCommand({ Bucket: to.bucket, Key: `${to.prefix}${key}`, CopySource: sourceOf(from, key) })
  await to.client.send(command, { abortSignal: signal })
}

interface LargeObject {
  readonly key: string
  readonly size: number
  readonly partBytes: number
}

async function copyParts({ from, to }: Places, { key, size, partBytes }: LargeObject, signal: AbortSignal): Promise<void> {
  const options = { abortSignal: signal }
  const target = { Bucket: to.bucket, Key: `${to.prefix}${key}` }
  const { ContentType, Metadata } = await from.client.send(
    new HeadObjectCommand({ Bucket: from.bucket, Key: `${from.prefix}${key}` }),
    options,
  )
  const { UploadId } = await to.client.send(new CreateMultipartUploadCommand({ ...target, ContentType, Metadata }), options)
  try {
    const starts = Array.from({ length: Math.ceil(size / partBytes) }, (_, part) => part * partBytes)
    const Parts = await inLanes(PARTS_AT_ONCE, starts, async (start) => {
      const PartNumber = start / partBytes + 1
      const CopySourceRange = `bytes=${start}-${Math.min(start + partBytes, size) - 1}`
      const command = new UploadPartCopyCommand({ ...target, UploadId, PartNumber, CopySource: sourceOf(from, key), CopySourceRange })
      const { CopyPartResult } = await to.client.send(command, options)
      return { PartNumber, ETag: CopyPartResult?.ETag }
    })
    await to.client.send(new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }), options)
  } catch (error) {
    await to.client.send(new AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => undefined)
    throw error
  }
}
