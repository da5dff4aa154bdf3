import { basename } from 'node:path/posix'
import { plainPath } from '../mount-path.ts'
import { REQUIREMENTS, type DriveMount, type DriveUse, type MountMode, type Outputs, type SourceMount } from '../mount.ts'
import type { DriveMountBody, SourceMountBody } from './drive-mount-body.ts'
import type { DriveAccess, DriveSource } from './drive.ts'
import { credentialsOf, normaliseSource } from './normalise-drive.ts'

/** A mount of a registered drive with every default filled in. */
export function normaliseDriveMount(body: DriveMountBody): DriveMount {
  return { type: 'drive', drive: body.drive, ...useOf(body, body.drive) }
}

/** A mount of an unregistered source with every default filled in. */
export function normaliseSourceMount(body: SourceMountBody): SourceMount {
  const source = normaliseSource(body.source, 'scratch')
  return { type: 'source', source, credentials: credentialsOf(body.source), ...useOf(body, lastName(source)) }
}

function useOf(body: Omit<DriveMountBody, 'type' | 'drive'>, name: string): DriveUse {
  const mode = body.mode ?? 'auto'
  const access = body.access ?? defaultAccess(mode)
  return {
    path: plainPath(body.path ?? `/data/${name}`),
    mode,
    access,
    subPath: (body.subPath ?? '').replace(/\/$/, ''),
    optimization: body.optimization ?? 'default',
    immutable: body.immutable ?? false,
    maxStalenessSeconds: body.maxStalenessSeconds ?? null,
    requires: REQUIREMENTS.filter((requirement) => body.requires?.includes(requirement)),
    onConflict: body.onConflict ?? (access === 'create' ? 'fail' : 'replace'),
    outputs: outputsOf(body.outputs),
    options: body.options ?? {},
    allowNested: body.allowNested ?? false,
  }
}

/** Who wants to write says so, by the mode or the access. */
const defaultAccess = (mode: MountMode): DriveAccess => (mode === 'copy_out' || mode === 'copy_in_out' ? 'rw' : 'ro')

const outputsOf = (outputs: DriveMountBody['outputs']): Outputs => ({
  include: outputs?.include ?? [],
  exclude: outputs?.exclude ?? [],
  when: outputs?.when ?? 'success',
  symlinks: outputs?.symlinks ?? 'skip',
  intervalSeconds: outputs?.intervalSeconds ?? null,
})

/** The whole last name: `s3://my.bucket/` is `my.bucket`. */
function lastName(source: DriveSource): string {
  switch (source.kind) {
    case 's3':
    case 'gcs':
      return source.prefix === '' ? source.bucket : basename(source.prefix)
    case 'azure_blob':
      return source.prefix === '' ? source.container : basename(source.prefix)
    case 'nfs':
      return basename(source.export) || source.server
    case 'efs':
    case 'fsx_lustre':
      return source.fileSystemId
    case 's3files':
      return basename(source.fileSystemArn)
    case 'volume':
    case 'docker_volume':
      return source.volume
    case 'pvc':
      return source.claimName
    case 'host_path':
      return basename(source.hostPath)
    case 'managed':
    case 'http':
    case 'scratch':
      return source.kind
  }
}
