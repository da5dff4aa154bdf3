import type { DriveKind } from './drive.ts'

/** What each kind is called in names of the OpenAPI document. */
export const COMPONENT_NAMES: Readonly<Record<DriveKind, string>> = {
  managed: 'Managed',
  s3: 'S3',
  gcs: 'Gcs',
  azure_blob: 'AzureBlob',
  nfs: 'Nfs',
  efs: 'Efs',
  s3files: 'S3Files',
  fsx_lustre: 'FsxLustre',
  volume: 'Volume',
  pvc: 'Pvc',
  docker_volume: 'DockerVolume',
  host_path: 'HostPath',
  http: 'Http',
  scratch: 'Scratch',
}
