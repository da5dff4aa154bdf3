import { inLanes } from '../../in-lanes.ts'
import { batchPrefix, copiedBatch } from '../copied-batch.ts'
import type { ObjectBatch } from '../object-store.ts'
import { blobAt, headBlob, listBlobs, putBlob, type AzurePlace } from './azure-blobs.ts'
import { toStoreError } from './azure-errors.ts'

const AT_ONCE = 8

export function azureBatch(place: AzurePlace, id: string): ObjectBatch {
  const own: AzurePlace = { ...place, prefix: batchPrefix(place.prefix, id) }
  return copiedBatch({
    batch: { write: (key, body, options) => putBlob(own, key, { body, options }), list: (options) => listBlobs(own, options) },
    drive: { head: (key, signal) => headBlob(place, key, signal) },
    copy: ({ key }, signal) => copyBlob({ from: own, to: place }, key, signal),
    remove: async (keys, signal) => {
      await inLanes(AT_ONCE, keys, (key) => blobAt(own, key).deleteIfExists({ abortSignal: signal })).catch(rethrow)
    },
  })
}

/** Within one account Azure copies by itself, a blob of any size (Copy Blob). */
async function copyBlob({ from, to }: { from: AzurePlace; to: AzurePlace }, key: string, abortSignal: AbortSignal): Promise<void> {
  try {
    const copying = await blobAt(to, key).beginCopyFromURL(blobAt(from, key).url, { abortSignal, intervalInMs: 500 })
    await copying.pollUntilDone()
  } catch (error) {
    const failure = toStoreError(error)
    if (failure.kind !== 'not_found') throw failure
  }
}

const rethrow = (error: unknown): never => {
  throw toStoreError(error)
}
