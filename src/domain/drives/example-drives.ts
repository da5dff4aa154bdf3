import type { DriveSnapshot, DriveSource } from './drive.ts'

const registered = (source: DriveSource): DriveSnapshot => ({ id: 'drv_1', name: 'd', version: 1, access: 'rw', source, credentials: null })

/** One drive of each kind, which allows everything. */
export const EXAMPLE_DRIVES: readonly DriveSnapshot[] = (
  [
    { kind: 'managed', ownership: 'flat', maxBytes: null, maxObjects: null },
    { kind: 's3', bucket: 'bucket', prefix: 'prefix/', endpoint: null, region: 'eu-west-1', pathStyle: false },
    { kind: 'gcs', bucket: 'bucket', prefix: 'prefix/', endpoint: null },
    { kind: 'azure_blob', account: 'account', container: 'container', prefix: 'prefix/', endpoint: null },
    { kind: 'nfs', server: 'files.example.org', export: '/export' },
    { kind: 'efs', fileSystemId: 'fs-0123456789abcdef0', accessPointId: null, rootDirectory: '/', region: 'eu-west-1' },
    { kind: 's3files', fileSystemArn: 'arn:aws:s3files:eu-west-1:1:file-system/fs-01', accessPointArn: null, rootDirectory: '/' },
    { kind: 'fsx_lustre', fileSystemId: 'fs-0123456789abcdef0', dnsName: 'fs.example.org', mountName: 'fsx' },
    { kind: 'volume', volume: 'foo2', bindings: { docker: null, kubernetes: null, aws_batch: null } },
    { kind: 'pvc', claimName: 'claim' },
    { kind: 'docker_volume', volume: 'foo2' },
    { kind: 'host_path', hostPath: '/srv/x' },
    { kind: 'http', files: [{ url: 'https://example.org/a', path: 'a', sha256: 'a'.repeat(64) }] },
    { kind: 'scratch', medium: 'disk', sizeMiB: null },
  ] satisfies DriveSource[]
).map(registered)
