export const DRIVE_KINDS = [
  'managed',
  's3',
  'gcs',
  'azure_blob',
  'nfs',
  'efs',
  's3files',
  'fsx_lustre',
  'volume',
  'pvc',
  'docker_volume',
  'host_path',
  'http',
  'scratch',
] as const
export type DriveKind = (typeof DRIVE_KINDS)[number]

/** Kinds that are files or objects which Berth itself can read, so that they can be copied and asked for over HTTP. */
export const OBJECT_KINDS: readonly DriveKind[] = ['managed', 's3', 'gcs', 'azure_blob', 'http']

/** The most that may be done: `create` makes new objects and changes none. */
export const DRIVE_ACCESS = ['ro', 'create', 'rw'] as const
export type DriveAccess = (typeof DRIVE_ACCESS)[number]

/** What and where: the canonical form, every default filled in. Prefixes are empty or end in `/`. */
export type DriveSource =
  | ManagedSource
  | S3Source
  | { readonly kind: 'gcs'; readonly bucket: string; readonly prefix: string; readonly endpoint: string | null }
  | AzureBlobSource
  | { readonly kind: 'nfs'; readonly server: string; readonly export: string }
  | EfsSource
  | { readonly kind: 's3files'; readonly fileSystemArn: string; readonly accessPointArn: string | null; readonly rootDirectory: string }
  | { readonly kind: 'fsx_lustre'; readonly fileSystemId: string; readonly dnsName: string; readonly mountName: string }
  | { readonly kind: 'volume'; readonly volume: string; readonly bindings: VolumeBindings }
  | { readonly kind: 'pvc'; readonly claimName: string }
  | { readonly kind: 'docker_volume'; readonly volume: string }
  | { readonly kind: 'host_path'; readonly hostPath: string }
  | { readonly kind: 'http'; readonly files: readonly HttpFile[] }
  | { readonly kind: 'scratch'; readonly medium: 'disk' | 'memory'; readonly sizeMiB: number | null }

/** Kept by Berth itself, in its store. */
export interface ManagedSource {
  readonly kind: 'managed'
  /** `component`: each producer writes into a directory of its own, so that two never overwrite each other. */
  readonly ownership: 'flat' | 'component'
  /** Quotas; null for none. */
  readonly maxBytes: number | null
  readonly maxObjects: number | null
}

export interface S3Source {
  readonly kind: 's3'
  readonly bucket: string
  readonly prefix: string
  /** Of a compatible server; null for AWS. */
  readonly endpoint: string | null
  readonly region: string | null
  readonly pathStyle: boolean
}

export interface AzureBlobSource {
  readonly kind: 'azure_blob'
  readonly account: string
  readonly container: string
  readonly prefix: string
  readonly endpoint: string | null
}

export interface EfsSource {
  readonly kind: 'efs'
  readonly fileSystemId: string
  readonly accessPointId: string | null
  /** Absolute. */
  readonly rootDirectory: string
  /** Needed where it is mounted as plain NFS, by its name in the DNS. */
  readonly region: string | null
}

/** What the name means on each kind of scheduler; null where nothing was said. */
export interface VolumeBindings {
  readonly docker: { readonly volume: string } | null
  readonly kubernetes: { readonly claimName: string } | null
  readonly aws_batch: { readonly fileSystemId: string; readonly accessPointId: string | null; readonly rootDirectory: string } | null
}

export interface HttpFile {
  readonly url: string
  /** Where it appears, relative to the mount. */
  readonly path: string
  /** 64 hex digits. */
  readonly sha256: string
}

/** `ambient`: whatever the worker itself has, if the operator allows it for that drive. */
export type DriveCredentials =
  { readonly method: 'none' } | { readonly method: 'secret'; readonly secret: string } | { readonly method: 'ambient' }

/** Storage that a project has registered. */
export interface Drive {
  readonly id: string
  readonly name: string
  /** Grows with every change. */
  readonly version: number
  readonly access: DriveAccess
  readonly source: DriveSource
  /** Null where the kind needs none. */
  readonly credentials: DriveCredentials | null
  readonly labels: Readonly<Record<string, string>>
}

/** A drive as a job saw it; kept with the job. `name`, `id` and `version` are null for a source that is not registered. */
export interface DriveSnapshot {
  readonly id: string | null
  readonly name: string | null
  readonly version: number | null
  readonly access: DriveAccess
  readonly source: DriveSource
  readonly credentials: DriveCredentials | null
}
