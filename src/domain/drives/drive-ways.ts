import type { MountMode } from '../mount.ts'
import { bucketWays } from './bucket-ways.ts'
import { OBJECT_KINDS, type DriveSource } from './drive.ts'
import { FILE_SYSTEM_WAYS } from './file-system-ways.ts'
import { isReadOnly, liveWay, wholeOnly, type Way, type WayFacts } from './way.ts'

/**
 * Every way to let a role see a drive, the best first; `mode: auto` takes the first that can be. Live before copied for
 * what is a file system; for a bucket a driver of the scheduler, then a copy, then an rclone volume.
 */
export function driveWays(facts: WayFacts): readonly Way[] {
  const { source } = facts
  if (!OBJECT_KINDS.includes(source.kind)) return liveWays(facts)
  const copies = copyModes(facts).map((mode) => stagedWay(facts, mode))
  const reference = referenceWay(facts)
  if (source.kind === 'managed') return [managedWay({ ...facts, source }), ...copies, reference]
  if (source.kind === 'http') return [...copies, reference]
  const { driver, rclone } = bucketWays({ ...facts, source: source as Extract<DriveSource, { kind: 's3' | 'gcs' | 'azure_blob' }> })
  return [...driver, ...copies, ...rclone, reference]
}

function liveWays(facts: WayFacts): readonly Way[] {
  const ways = FILE_SYSTEM_WAYS[facts.source.kind as keyof typeof FILE_SYSTEM_WAYS] as (facts: WayFacts) => Way[]
  return ways(facts)
}

/** The copy that `auto` would mean stands first. */
function copyModes({ use }: WayFacts): readonly ('copy_in' | 'copy_out' | 'copy_in_out')[] {
  const meant = { ro: 'copy_in', create: 'copy_out', rw: 'copy_in_out' } as const
  const first = use.mode === 'copy_in' || use.mode === 'copy_out' || use.mode === 'copy_in_out' ? use.mode : meant[use.access]
  return [first, ...COPIES.filter((mode) => mode !== first)]
}

const COPIES = ['copy_in', 'copy_out', 'copy_in_out'] as const
const DIRECTIONS = { copy_in: 'in', copy_out: 'out', copy_in_out: 'in_out' } as const

function stagedWay({ use, source }: WayFacts, mode: Extract<MountMode, 'copy_in' | 'copy_out' | 'copy_in_out'>): Way {
  const direction = DIRECTIONS[mode]
  const writesBack = direction !== 'in'
  return {
    mode,
    plan: { via: 'staged', path: use.path, readOnly: isReadOnly(use), direction, cache: direction === 'in' && isReadOnly(use) },
    // Each replica has a copy of its own, and only files are put back.
    lacks: writesBack ? ['lock', 'symlink'] : ['lock'],
    flaws: [
      ...(writesBack && isReadOnly(use)
        ? [{ code: 'access_too_low', detail: `mode ${mode} puts files on the drive: ask for access rw or create` }]
        : []),
      ...(writesBack && source.kind === 'http'
        ? [{ code: 'source_read_only', detail: 'nothing can be put where it is downloaded from' }]
        : []),
      ...(use.access === 'create' && use.onConflict === 'replace'
        ? [{ code: 'access_too_low', detail: 'access create cannot replace what is there: take onConflict fail or keep' }]
        : []),
    ],
    warnings: !writesBack && use.access !== 'ro' ? ['what the job writes here stays in its own copy and is gone at its end'] : [],
  }
}

function referenceWay({ drive, source, use, capabilities }: WayFacts): Way {
  const noAddress = { code: 'api_unreachable', detail: 'its jobs do not reach the API: the operator must set BERTH_PUBLIC_URL' }
  const noName = { code: 'not_registered', detail: 'the API knows registered drives alone: POST /v1/drives' }
  const unreadable = { code: 'objects_unsupported', detail: `drives of kind ${source.kind} have no objects over HTTP yet` }
  const readOnly = { code: 'source_read_only', detail: 'nothing can be put where it is downloaded from' }
  return {
    mode: 'api',
    plan: { via: 'reference', path: use.path, url: `${capabilities.apiUrl}/v1/drives/${drive.name}/objects`, prefix: use.subPath },
    lacks: ['rename', 'random_write', 'lock', 'symlink'],
    flaws: [
      ...(capabilities.apiUrl === null ? [noAddress] : []),
      ...(drive.id === null ? [noName] : []),
      ...(source.kind === 'azure_blob' ? [unreadable] : []),
      ...(source.kind === 'http' && !isReadOnly(use) ? [readOnly] : []),
    ],
    warnings: [],
  }
}

function managedWay({ drive, source, use, kind, capabilities }: WayFacts<Extract<DriveSource, { kind: 'managed' }>>): Way {
  const shared = source.ownership === 'component' && !isReadOnly(use)
  return liveWay(
    { via: 'drive_directory', driveId: drive.id ?? '', subPath: use.subPath, path: use.path, readOnly: isReadOnly(use) },
    {
      flaws: [
        ...(drive.id === null ? [{ code: 'not_registered', detail: 'a managed drive must be registered: POST /v1/drives' }] : []),
        ...(capabilities.driveDirectories
          ? []
          : [{ code: 'drive_not_here', detail: 'the files of managed drives are not on the machines of this scheduler' }]),
        // The daemon would follow a link that a job has put there.
        ...(kind === 'docker' ? wholeOnly(use, 'the directory of a managed drive') : []),
        ...(shared
          ? [{ code: 'component_unenforced', detail: 'a live mount cannot keep producers apart on a drive with ownership component' }]
          : []),
      ],
      warnings: isReadOnly(use) ? [] : ['what is written is visible at once, also if the job fails'],
    },
  )
}
