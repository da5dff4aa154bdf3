import { ListObjectsV2Command } from '@aws-sdk/client-s3'
import { RESERVED } from '../../domain/drives/object-key.ts'
import type { ListOptions, ObjectInfo, ObjectPage } from '../object-store.ts'
import { toStoreError } from './s3-errors.ts'
import type { S3Place } from './s3-objects.ts'

/** Most that a server gives at once (S3 API, MaxKeys). */
const MOST_KEYS = 1000
/** Sorts after every key below a prefix, so that the prefix is not given again. */
const AFTER_ALL = '\u{10FFFF}'

/** A page of a bucket's keys below the drive's prefix, without what Berth keeps there. */
export async function listKeys(
  { client, bucket, prefix }: S3Place,
  { prefix: below, delimiter, after, limit, signal }: ListOptions,
): Promise<ObjectPage> {
  const command = new ListObjectsV2Command({
    Bucket: bucket,
    Prefix: `${prefix}${below}`,
    MaxKeys: Math.min(limit, MOST_KEYS),
    ...(delimiter !== null && { Delimiter: delimiter }),
    ...(after !== null && { StartAfter: `${prefix}${after}` }),
  })
  const answer = await client.send(command, { abortSignal: signal }).catch((error: unknown) => {
    throw toStoreError(error)
  })
  const own = (key: string | undefined): string => (key ?? '').slice(prefix.length)
  const all = (answer.Contents ?? []).map(({ Key, Size, ETag, LastModified }): ObjectInfo => ({
    key: own(Key),
    size: Size ?? 0,
    etag: ETag ?? '""',
    modifiedAt: LastModified ?? new Date(0),
    contentType: null,
    sha256: null,
  }))
  const prefixes = (answer.CommonPrefixes ?? []).map(({ Prefix }) => own(Prefix))
  const last = [all.at(-1)?.key, prefixes.length > 0 ? `${prefixes.at(-1)}${AFTER_ALL}` : undefined]
    .filter((key) => key !== undefined)
    .sort(byBytes)
    .at(-1)
  const isOurs = (key: string): boolean => key.startsWith(`${RESERVED}/`)
  return {
    objects: all.filter(({ key }) => !isOurs(key) && key !== '' && !key.endsWith('/')),
    prefixes: prefixes.filter((key) => !isOurs(key)),
    next: answer.IsTruncated === true ? (last ?? null) : null,
  }
}

const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
