import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DriveSnapshot } from '../domain/drives/drive.ts'
import { openDirectory } from './directory/contained.ts'
import { directoryStore } from './directory/directory-store.ts'
import { driveFolders } from './directory/drive-folders.ts'
import { httpStore } from './http/http-store.ts'
import type { ObjectStore } from './object-store.ts'
import { createS3Client, type S3Address } from './s3/s3-client.ts'
import { deleteAll } from './s3/s3-batch.ts'
import { s3Store } from './s3/s3-store.ts'
import type { StoreCredentials, Stores } from './stores.ts'

/** Where managed drives are kept. */
export type ManagedPlace =
  | { readonly kind: 'directory'; readonly directory: string }
  | (S3Address & {
      readonly kind: 's3'
      readonly bucket: string
      readonly prefix: string
      readonly credentials: StoreCredentials | 'ambient'
    })

export interface StoresOptions {
  readonly managed: ManagedPlace
  /** Whether `http` drives may lead to addresses of private networks. */
  readonly allowPrivate: boolean
}

/** Opens drives of every kind that is made of objects. */
export function createStores({ managed, allowPrivate }: StoresOptions): Stores {
  const ofManaged = managedOpener(managed)
  return {
    open(drive, credentials) {
      const { source } = drive
      switch (source.kind) {
        case 'managed':
          return drive.id === null ? null : ofManaged(drive.id)
        case 'http':
          return httpStore(source.files, { allowPrivate })
        default:
          return bucketStore(drive, credentials)
      }
    },
    async makeDirectory(driveId, subPath) {
      if (managed.kind !== 'directory') return
      const parts = subPath.split('/').filter((part) => part !== '')
      await (await openDirectory(driveFolders(managed.directory, driveId).data, parts, 'make'))?.close()
    },
    async forget(driveId) {
      if (managed.kind === 'directory') await rm(join(managed.directory, driveId), { recursive: true, force: true })
      else await emptyPrefix(ofManaged(driveId), { ...managed, prefix: `${managed.prefix}drives/${driveId}/` })
    },
  }
}

function managedOpener(managed: ManagedPlace): (driveId: string) => ObjectStore {
  if (managed.kind === 'directory') return (driveId) => directoryStore(driveFolders(managed.directory, driveId))
  const client = createS3Client(managed, managed.credentials)
  return (driveId) => s3Store({ client, bucket: managed.bucket, prefix: `${managed.prefix}drives/${driveId}/` })
}

const GOOGLE = 'https://storage.googleapis.com'

function bucketStore({ source }: DriveSnapshot, credentials: StoreCredentials | 'ambient' | null): ObjectStore | null {
  if (source.kind === 's3') {
    const { endpoint, region, pathStyle, bucket, prefix } = source
    return s3Store({ client: createS3Client({ endpoint, region: region ?? 'us-east-1', pathStyle }, credentials), bucket, prefix })
  }
  if (source.kind === 'gcs') {
    const address = { endpoint: source.endpoint ?? GOOGLE, region: 'auto', pathStyle: true }
    return s3Store({ client: createS3Client(address, credentials), bucket: source.bucket, prefix: source.prefix })
  }
  return null
}

async function emptyPrefix(store: ObjectStore, place: Extract<ManagedPlace, { kind: 's3' }>): Promise<void> {
  const signal = AbortSignal.timeout(10 * 60_000)
  const client = createS3Client(place, place.credentials)
  for (;;) {
    const { objects } = await store.list({ prefix: '', delimiter: null, after: null, limit: 1000, signal })
    if (objects.length === 0) return
    await deleteAll(
      { client, bucket: place.bucket, prefix: place.prefix },
      objects.map(({ key }) => key),
      signal,
    )
  }
}
