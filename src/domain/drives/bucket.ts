import type { Requirement } from '../mount.ts'
import type { DriveSource } from './drive.ts'
import type { WayFacts } from './way.ts'

export type Bucket = Extract<DriveSource, { kind: 's3' | 'gcs' | 'azure_blob' }>

/** An object store behind a file system: no random writes, no renames, no locks, no links. */
export const OBJECTS_ONLY: readonly Requirement[] = ['lock', 'random_write', 'rename', 'symlink']
/** `s3://bucket/prefix/` and the like, for people and to find what the operator has mounted. */
export function urlOf(source: Bucket): string {
  switch (source.kind) {
    case 's3':
      return `s3://${source.bucket}/${source.prefix}`
    case 'gcs':
      return `gs://${source.bucket}/${source.prefix}`
    case 'azure_blob':
      return `az://${source.account}/${source.container}/${source.prefix}`
  }
}

/** Its name, without a prefix. */
export const bucketOf = (source: Bucket): string => (source.kind === 'azure_blob' ? source.container : source.bucket)

/** A cache of what may change is asked again after this long, unless the mount allows more. */
const CACHE_SECONDS = 60

/** A cheaper level may make it staler only where the mount says that this is no harm. */
export function stalenessOf({ use }: WayFacts, mode: 'mount' | 'cached'): number {
  if (use.immutable && (mode === 'cached' || use.optimization === 'read_cache')) return 7 * 24 * 3600
  if (use.maxStalenessSeconds !== null) return use.maxStalenessSeconds
  return mode === 'cached' ? CACHE_SECONDS : 0
}

/** What the user is told of it. */
export const staleness = ({ use }: WayFacts, ttl: number): string[] =>
  use.immutable || use.maxStalenessSeconds !== null
    ? []
    : [`changes by others are seen up to ${ttl} s late; say immutable, or maxStalenessSeconds`]
