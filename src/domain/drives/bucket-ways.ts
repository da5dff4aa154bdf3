import type { DriveSource } from './drive.ts'
import { hostMounts } from './file-system-ways.ts'
import type { Requirement } from '../mount.ts'
import { below, isReadOnly, liveWay, type Way, type WayFacts } from './way.ts'

type Bucket = Extract<DriveSource, { kind: 's3' | 'gcs' | 'azure_blob' }>

/** An object store behind a file system: no random writes, no renames, no locks, no links. */
const OBJECTS_ONLY: readonly Requirement[] = ['lock', 'random_write', 'rename', 'symlink']
/** With a cache of whole files on disk it can be written anywhere and renamed. */
const CACHED_FILES: readonly Requirement[] = ['lock', 'symlink']

/** Live ways of a bucket: a CSI driver, what the operator has mounted, an rclone volume. */
export function bucketWays(facts: WayFacts<Bucket>): { readonly driver: readonly Way[]; readonly rclone: readonly Way[] } {
  const mounted = hostMounts(facts, urlOf(facts.source)).map((way) => ({ ...way, lacks: OBJECTS_ONLY }))
  const csi = facts.kind === 'kubernetes' ? [csiWay(facts, 'mount'), csiWay(facts, 'cached')] : []
  return { driver: [...csi, ...mounted], rclone: facts.kind === 'docker' ? [rcloneWay(facts, 'mount'), rcloneWay(facts, 'cached')] : [] }
}

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

/** A cache of what may change is asked again after this long, unless the mount allows more. */
const CACHE_SECONDS = 60

function csiWay(facts: WayFacts<Bucket>, mode: 'mount' | 'cached'): Way {
  const { source, use } = facts
  const ttl = stalenessOf(facts, mode)
  const prefix = [source.prefix.replace(/\/$/, ''), use.subPath].filter((part) => part !== '').join('/')
  const driver = DRIVERS[source.kind]
  const foreign = source.kind === 's3' && source.endpoint !== null
  return liveWay(
    {
      via: 'csi',
      driver: driver.name,
      volumeHandle: `${urlOf(source)}${use.subPath}`,
      attributes: driver.attributes(source, mode),
      mountOptions: [
        ...driver.options(prefix, ttl),
        ...(isReadOnly(use) ? driver.readOnly : use.access === 'rw' ? driver.overwrite : []),
        ...(use.optimization === 'throughput' ? driver.throughput : []),
      ],
      path: use.path,
      readOnly: isReadOnly(use),
    },
    {
      mode,
      lacks: OBJECTS_ONLY,
      warnings: [
        ...(mode === 'cached' ? staleness(facts, ttl) : []),
        ...(foreign ? ['Mountpoint supports AWS alone: another server may lack what it needs'] : []),
      ],
    },
  )
}

interface CsiDriver {
  readonly name: string
  readonly attributes: (source: Bucket, mode: 'mount' | 'cached') => Readonly<Record<string, string>>
  readonly options: (prefix: string, ttlSeconds: number) => readonly string[]
  readonly readOnly: readonly string[]
  readonly overwrite: readonly string[]
  readonly throughput: readonly string[]
}

const DRIVERS: Readonly<Record<Bucket['kind'], CsiDriver>> = {
  s3: {
    name: 's3.csi.aws.com',
    attributes: (source, mode) => ({ bucketName: bucketOf(source), ...(mode === 'cached' && { cache: 'emptyDir' }) }),
    options: (prefix, ttl) => [...(prefix === '' ? [] : [`prefix=${prefix}/`]), ttl === 0 ? 'metadata-ttl=minimal' : `metadata-ttl=${ttl}`],
    readOnly: ['read-only'],
    overwrite: ['allow-delete', 'allow-overwrite'],
    throughput: ['maximum-throughput-gbps=100'],
  },
  gcs: {
    name: 'gcsfuse.csi.storage.gke.io',
    attributes: (source, mode) => ({ bucketName: bucketOf(source), ...(mode === 'cached' && { fileCacheCapacity: '-1' }) }),
    options: (prefix, ttl) => [
      'implicit-dirs',
      ...(prefix === '' ? [] : [`only-dir=${prefix}`]),
      `metadata-cache:ttl-secs:${ttl}`,
      'metadata-cache:negative-ttl-secs:0',
    ],
    readOnly: ['ro'],
    overwrite: [],
    throughput: ['read:enable-buffered-read:true'],
  },
  azure_blob: {
    name: 'blob.csi.azure.com',
    attributes: (source) => ({ containerName: bucketOf(source), protocol: 'fuse2' }),
    options: (prefix, ttl) => [
      ...(prefix === '' ? [] : [`--subdirectory=${prefix}`]),
      `--attr-cache-timeout=${ttl}`,
      '--cancel-list-on-mount-seconds=10',
    ],
    readOnly: ['--read-only'],
    overwrite: [],
    throughput: ['--block-cache'],
  },
}

const bucketOf = (source: Bucket): string => (source.kind === 'azure_blob' ? source.container : source.bucket)

function rcloneWay(facts: WayFacts<Bucket>, mode: 'mount' | 'cached'): Way {
  const { source, use } = facts
  const ttl = stalenessOf(facts, mode)
  const writes = isReadOnly(use) ? 'off' : 'writes'
  return liveWay(
    {
      via: 'rclone_volume',
      bucketPath: below(`${bucketOf(source)}/${source.prefix}`.replace(/\/$/, ''), use.subPath),
      cacheMode: mode === 'cached' ? 'full' : writes,
      cacheMiB: mode === 'cached' || !isReadOnly(use) ? 10_240 : null,
      options: {
        'dir-cache-time': `${ttl}s`,
        ...(mode === 'cached' && source.kind === 's3' && { 'vfs-fast-fingerprint': 'true' }),
        ...(use.optimization === 'throughput' && { 'vfs-read-chunk-streams': '16', 'vfs-read-chunk-size': '4Mi' }),
        ...(use.optimization === 'checkpoint' && { 'vfs-write-back': '1s' }),
      },
      path: use.path,
      readOnly: isReadOnly(use),
    },
    {
      mode,
      lacks: isReadOnly(use) ? OBJECTS_ONLY : CACHED_FILES,
      warnings: [
        ...(mode === 'cached' ? staleness(facts, ttl) : []),
        ...(isReadOnly(use) ? [] : ['what is written reaches the bucket after it is closed; the attempt ends only when all of it has']),
      ],
    },
  )
}

/** A cheaper level may make it staler only where the mount says that this is no harm. */
function stalenessOf({ use }: WayFacts, mode: 'mount' | 'cached'): number {
  if (use.immutable && (mode === 'cached' || use.optimization === 'read_cache')) return 7 * 24 * 3600
  if (use.maxStalenessSeconds !== null) return use.maxStalenessSeconds
  return mode === 'cached' ? CACHE_SECONDS : 0
}

const staleness = ({ use }: WayFacts, ttl: number): string[] =>
  use.immutable || use.maxStalenessSeconds !== null
    ? []
    : [`changes by others are seen up to ${ttl} s late; say immutable, or maxStalenessSeconds`]
