import type { Readable } from 'node:stream'
import { BlobSASPermissions } from '@azure/storage-blob'
import { explainedBody } from '../explained-body.ts'
import type { AzureCredentials } from '../stores.ts'
import { StoreError, type ObjectStore } from '../object-store.ts'
import { azureBatch } from './azure-batch.ts'
import { blobAt, headBlob, listBlobs, putBlob, type AzurePlace } from './azure-blobs.ts'
import { toStoreError } from './azure-errors.ts'

/** A container of Azure Blob Storage, or what lies below a prefix of it. */
export function azureStore(place: AzurePlace, credentials: AzureCredentials | null): ObjectStore {
  return {
    head: (key, signal) => headBlob(place, key, signal),
    async read(key, { range, ifMatch, signal }) {
      const count = range && range.end - range.start + 1
      const conditions = ifMatch === undefined ? {} : { ifMatch }
      const answer = await blobAt(place, key)
        .download(range?.start ?? 0, count, { conditions, abortSignal: signal, maxRetryRequests: 3 })
        .catch(rethrow)
      return explainedBody(answer.readableStreamBody as Readable, signal)
    },
    write: (key, body, options) => putBlob(place, key, { body, options }),
    async remove(key, { ifMatch, signal }) {
      const conditions = ifMatch === undefined ? {} : { ifMatch }
      const there = await headBlob(place, key, signal)
      if (there === null) return false
      if (ifMatch !== undefined && ifMatch !== there.etag) throw new StoreError('precondition_failed', `"${key}" has changed`)
      const { succeeded } = await blobAt(place, key).deleteIfExists({ conditions, abortSignal: signal }).catch(rethrow)
      return succeeded
    },
    list: (options) => listBlobs(place, options),
    batch: (id) => azureBatch(place, id),
    async presign(key, { method, expiresInSeconds }) {
      // A PUT wants a header of Azure's own, and a URL signature can sign no other.
      if (method === 'PUT' || credentials?.type !== 'azure_key') return null
      const expiresOn = new Date(Date.now() + expiresInSeconds * 1000)
      return blobAt(place, key).generateSasUrl({ permissions: BlobSASPermissions.parse('r'), expiresOn })
    },
  }
}

const rethrow = (error: unknown): never => {
  throw toStoreError(error)
}
