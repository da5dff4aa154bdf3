import type { Capabilities } from '../capabilities.ts'
import type { Flaw } from '../fault.ts'
import type { RclonePlan } from '../mount-plan.ts'
import type { Requirement } from '../mount.ts'
import { bucketOf, OBJECTS_ONLY, staleness, stalenessOf, urlOf, type Bucket } from './bucket.ts'
import { below, isReadOnly, liveWay, type Way, type WayFacts } from './way.ts'

/** With a cache of whole files on disk it can be written anywhere and renamed. */
const CACHED_FILES: readonly Requirement[] = ['lock', 'symlink']

/** The one that is meant most closely. */
function remoteOf(source: Bucket, { rcloneRemotes }: Capabilities): string | null {
  const matching = rcloneRemotes.filter((entry) => entry.endpoint === source.endpoint && urlOf(source).startsWith(entry.source))
  const [closest] = [...matching].sort((a, b) => b.source.length - a.source.length)
  return closest?.remote ?? null
}

const noRemote = (source: Bucket): Flaw => ({
  code: 'remote_missing',
  detail: `the rclone plugin here has no remote for ${urlOf(source)}: its operator must name one`,
})

/** A volume of an rclone plugin. */
export function rcloneWay(facts: WayFacts<Bucket>, mode: 'mount' | 'cached'): Way {
  const { source, use, capabilities } = facts
  const remote = remoteOf(source, capabilities)
  return liveWay(planOf(facts, mode, remote ?? ''), {
    mode,
    lacks: isReadOnly(use) ? OBJECTS_ONLY : CACHED_FILES,
    flaws: capabilities.mountVia.includes('rclone_volume') && remote === null ? [noRemote(source)] : [],
    warnings: [
      ...(mode === 'cached' ? staleness(facts, stalenessOf(facts, mode)) : []),
      ...(isReadOnly(use) ? [] : ['what is written reaches the bucket after it is closed; the attempt ends only when all of it has']),
    ],
  })
}

function planOf(facts: WayFacts<Bucket>, mode: 'mount' | 'cached', remote: string): RclonePlan {
  const { source, use } = facts
  const writes = isReadOnly(use) ? 'off' : 'writes'
  return {
    via: 'rclone_volume',
    remote,
    bucketPath: below(`${bucketOf(source)}/${source.prefix}`.replace(/\/$/, ''), use.subPath),
    cacheMode: mode === 'cached' ? 'full' : writes,
    cacheMiB: mode === 'cached' || !isReadOnly(use) ? 10_240 : null,
    options: {
      'dir-cache-time': `${stalenessOf(facts, mode)}s`,
      ...(mode === 'cached' && source.kind === 's3' && { 'vfs-fast-fingerprint': 'true' }),
      ...(use.optimization === 'throughput' && { 'vfs-read-chunk-streams': '16', 'vfs-read-chunk-size': '4Mi' }),
      ...(use.optimization === 'checkpoint' && { 'vfs-write-back': '1s' }),
      ...use.options,
    },
    path: use.path,
    readOnly: isReadOnly(use),
  }
}
