import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { StoreError, type ObjectStore } from '../../stores/object-store.ts'
import type { LogOwner } from '../../db/statements/append-log.ts'
import { packBlock, unpackBlock, type LogSegment } from './log-block.ts'

/** Of one block of a few MiB. */
const TIMEOUT_MS = 30_000

/** Which segments of a replica's output lie in one object. */
export interface BlockName extends LogOwner {
  readonly firstSeq: number
  readonly lastSeq: number
}

/** @throws StoreError */
export async function writeBlock(store: ObjectStore, name: BlockName, segments: readonly LogSegment[]): Promise<void> {
  const file = await packBlock(segments)
  await store.write(keyOf(name), Readable.from([file]), { size: file.length, contentType: 'application/gzip', signal: deadline() })
}

/** @throws StoreError; `misconfigured` for a block that is lost or none of ours: it is not the client who named it */
export async function readBlock(store: ObjectStore, name: BlockName): Promise<LogSegment[]> {
  try {
    return await unpackBlock(await buffer(await store.read(keyOf(name), { signal: deadline() })))
  } catch (error) {
    if (error instanceof StoreError && error.kind !== 'not_found') throw error
    throw new StoreError('misconfigured', `the store of outputs does not give "${keyOf(name)}" as it was written`, { cause: error })
  }
}

/** @throws StoreError */
export async function removeBlock(store: ObjectStore, name: BlockName): Promise<void> {
  await store.remove(keyOf(name), { signal: deadline() })
}

/** Whatever was ever written of an attempt's output. @throws StoreError */
export async function removeBlocks(store: ObjectStore, attemptId: string): Promise<void> {
  for (;;) {
    const page = await store.list({ prefix: `${attemptId}/`, delimiter: null, after: null, limit: 1000, signal: deadline() })
    for (const { key } of page.objects) await store.remove(key, { signal: deadline() })
    if (page.next === null) return
  }
}

const keyOf = ({ attemptId, role, index, firstSeq, lastSeq }: BlockName): string =>
  `${attemptId}/${role}/${index}/${firstSeq}-${lastSeq}.gz`

const deadline = (): AbortSignal => AbortSignal.timeout(TIMEOUT_MS)
