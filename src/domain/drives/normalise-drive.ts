import { basename } from 'node:path/posix'
import type { NewDriveBody, SourceBody } from './drive-body.ts'
import type { Drive, DriveAccess, DriveCredentials, DriveKind, DriveSource, HttpFile } from './drive.ts'

/** A drive as it is stored, but for its id and version: every default filled in. */
export function normaliseDrive(body: NewDriveBody): Omit<Drive, 'id' | 'version'> {
  const { name, access, labels } = body
  return {
    name,
    access: access ?? defaultAccess(body.kind),
    source: normaliseSource(body, name),
    credentials: credentialsOf(body),
    labels: labels ?? {},
  }
}

/** What an unregistered source, or the source of a drive, stands for. @param name what a volume without a name is called */
export function normaliseSource(body: SourceBody, name: string): DriveSource {
  switch (body.kind) {
    case 'managed':
      return { kind: 'managed', ownership: body.ownership ?? 'flat', maxBytes: body.maxBytes ?? null, maxObjects: body.maxObjects ?? null }
    case 's3':
      return s3Source(body)
    case 'gcs':
      return { kind: 'gcs', bucket: body.bucket, prefix: body.prefix ?? '', endpoint: body.endpoint ?? null }
    case 'azure_blob':
      return {
        kind: 'azure_blob',
        account: body.account,
        container: body.container,
        prefix: body.prefix ?? '',
        endpoint: body.endpoint ?? null,
      }
    case 'nfs':
    case 'fsx_lustre':
    case 'pvc':
    case 'docker_volume':
    case 'host_path':
      return fieldsOf(body)
    case 'efs':
      return { ...efsOf(body), kind: 'efs', region: body.region ?? null }
    case 's3files':
      return {
        kind: 's3files',
        fileSystemArn: body.fileSystemArn,
        accessPointArn: body.accessPointArn ?? null,
        rootDirectory: body.rootDirectory ?? '/',
      }
    case 'volume':
      return volumeSource(body, name)
    case 'http':
      return { kind: 'http', files: body.files.map(fileOf) }
    case 'scratch':
      return { kind: 'scratch', medium: body.medium ?? 'disk', sizeMiB: body.sizeMiB ?? null }
  }
}

const BUCKETS: readonly DriveKind[] = ['s3', 'gcs', 'azure_blob', 'http']

const defaultAccess = (kind: DriveKind): DriveAccess => (BUCKETS.includes(kind) ? 'ro' : 'rw')

/** Null for kinds that need none. */
export const credentialsOf = (body: SourceBody): DriveCredentials | null => ('credentials' in body ? body.credentials : null)

type Of<K extends DriveKind> = Extract<SourceBody, { kind: K }>

const s3Source = (body: Of<'s3'>): DriveSource => ({
  kind: 's3',
  bucket: body.bucket,
  prefix: body.prefix ?? '',
  endpoint: body.endpoint ?? null,
  region: body.region ?? null,
  pathStyle: body.pathStyle ?? typeof body.endpoint === 'string',
})

function fieldsOf(body: Of<'nfs' | 'fsx_lustre' | 'pvc' | 'docker_volume' | 'host_path'>): DriveSource {
  switch (body.kind) {
    case 'nfs':
      return { kind: 'nfs', server: body.server, export: body.export }
    case 'fsx_lustre':
      return { kind: 'fsx_lustre', fileSystemId: body.fileSystemId, dnsName: body.dnsName, mountName: body.mountName }
    case 'pvc':
      return { kind: 'pvc', claimName: body.claimName }
    case 'docker_volume':
      return { kind: 'docker_volume', volume: body.volume }
    case 'host_path':
      return { kind: 'host_path', hostPath: body.hostPath }
  }
}

interface EfsFields {
  readonly fileSystemId: string
  readonly accessPointId?: string | null | undefined
  readonly rootDirectory?: string | undefined
}

const efsOf = ({ fileSystemId, accessPointId, rootDirectory }: EfsFields) => ({
  fileSystemId,
  accessPointId: accessPointId ?? null,
  rootDirectory: rootDirectory ?? '/',
})

function volumeSource({ volume, bindings }: Of<'volume'>, name: string): DriveSource {
  return {
    kind: 'volume',
    volume: volume ?? name,
    bindings: {
      docker: bindings?.docker ?? null,
      kubernetes: bindings?.kubernetes ?? null,
      aws_batch: bindings?.aws_batch ? efsOf(bindings.aws_batch) : null,
    },
  }
}

const fileOf = ({ url, path, sha256 }: Of<'http'>['files'][number]): HttpFile => ({
  url,
  path: path ?? (decodeURIComponent(basename(new URL(url).pathname)) || 'index'),
  sha256: sha256.toLowerCase(),
})
