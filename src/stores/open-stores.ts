import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AddressPolicy } from '../outbound/address-policy.ts'
import { createGuardedAgents, type GuardedAgents } from '../outbound/guarded-agents.ts'
import type { DriveSnapshot } from '../domain/drives/drive.ts'
import { openDirectory } from './directory/contained.ts'
import { directoryStore } from './directory/directory-store.ts'
import { discreetStore } from './discreet-store.ts'
import { driveFolders } from './directory/drive-folders.ts'
import { httpStore } from './http/http-store.ts'
import { azureStore } from './azure/azure-store.ts'
import { createContainerClient } from './azure/azure-client.ts'
import { StoreError, type ObjectStore } from './object-store.ts'
import { createS3Client, type S3Address } from './s3/s3-client.ts'
import { deleteAll } from './s3/s3-batch.ts'
import { s3Store } from './s3/s3-store.ts'
import type { AzureCredentials, S3Keys, StoreCredentials, Stores } from './stores.ts'

/** Where managed drives are kept. */
export type ManagedPlace =
  | { readonly kind: 'directory'; readonly directory: string }
  | (S3Address & {
      readonly kind: 's3'
      readonly bucket: string
      readonly prefix: string
      readonly credentials: S3Keys | 'ambient'
    })

export interface StoresOptions {
  readonly managed: ManagedPlace
  /** Where the URLs and endpoints of drives may lead. */
  readonly addresses: AddressPolicy
}

/** Opens drives of every kind that is made of objects. */
export function createStores({ managed, addresses }: StoresOptions): Stores {
  const agents = createGuardedAgents(addresses, { keepAlive: true, maxSockets: 50 })
  const ofManaged = managedOpener(managed)
  return {
    logs: logsStore(managed),
    open(drive, credentials) {
      const { source } = drive
      switch (source.kind) {
        case 'managed':
          return drive.id === null ? null : ofManaged(drive.id)
        case 'http':
          return httpStore(source.files, agents)
        default:
          return withDiscretion(bucketStore(drive, credentials, agents), credentials)
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

function logsStore(managed: ManagedPlace): ObjectStore {
  if (managed.kind === 'directory') return directoryStore(driveFolders(managed.directory, 'logs'))
  return s3Store({ client: createS3Client(managed, managed.credentials), bucket: managed.bucket, prefix: `${managed.prefix}logs/` })
}

const GOOGLE = 'https://storage.googleapis.com'

function bucketStore({ source }: DriveSnapshot, credentials: Credentials, agents: GuardedAgents): ObjectStore | null {
  if (source.kind === 's3') {
    const { endpoint, region, pathStyle, bucket, prefix } = source
    const address = { endpoint, region: region ?? 'us-east-1', pathStyle }
    return s3Store({ client: createS3Client(address, s3Keys(credentials), agents), bucket, prefix })
  }
  if (source.kind === 'gcs') {
    const address = { endpoint: source.endpoint ?? GOOGLE, region: 'auto', pathStyle: true }
    return s3Store({ client: createS3Client(address, s3Keys(credentials), agents), bucket: source.bucket, prefix: source.prefix })
  }
  if (source.kind === 'azure_blob') {
    const keys = azureKeys(credentials)
    return azureStore({ client: createContainerClient(source, keys, agents), prefix: source.prefix }, keys)
  }
  return null
}

const withDiscretion = (store: ObjectStore | null, credentials: Credentials): ObjectStore | null =>
  store === null || credentials === null || credentials === 'ambient' ? store : discreetStore(store, credentials)

type Credentials = StoreCredentials | 'ambient' | null

function s3Keys(credentials: Credentials): S3Keys | 'ambient' | null {
  if (credentials === null || credentials === 'ambient' || credentials.type === 's3_keys') return credentials
  throw new StoreError('access_denied', `a secret of type ${credentials.type} does not open this kind of bucket: s3_keys does`)
}

function azureKeys(credentials: Credentials): AzureCredentials | null {
  if (credentials === null || (credentials !== 'ambient' && credentials.type !== 's3_keys')) return credentials
  throw new StoreError('access_denied', 'a container of Azure is opened by a secret of type azure_key or azure_sas, and nothing else')
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
