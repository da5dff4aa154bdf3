import { bucketOf, OBJECTS_ONLY, staleness, stalenessOf, urlOf, type Bucket } from './bucket.ts'
import { hostMounts } from './file-system-ways.ts'
import { rcloneWay } from './rclone-way.ts'
import { isReadOnly, liveWay, type Way, type WayFacts } from './way.ts'

/** Live ways of a bucket: a CSI driver, what the operator has mounted, an rclone volume. */
export function bucketWays(facts: WayFacts<Bucket>): { readonly driver: readonly Way[]; readonly rclone: readonly Way[] } {
  const mounted = hostMounts(facts, urlOf(facts.source)).map((way) => ({ ...way, lacks: OBJECTS_ONLY }))
  const csi = facts.kind === 'kubernetes' ? [csiWay(facts, 'mount'), csiWay(facts, 'cached')] : []
  return { driver: [...csi, ...mounted], rclone: facts.kind === 'docker' ? [rcloneWay(facts, 'mount'), rcloneWay(facts, 'cached')] : [] }
}

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
