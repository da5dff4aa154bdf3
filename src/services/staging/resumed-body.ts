import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { StoreError, type ObjectInfo, type ObjectStore } from '../../stores/object-store.ts'

const TRIES = 5
const FIRST_WAIT_MS = 250

/**
 * The bytes of exactly this version of an object. A connection that breaks is taken up again where it stood, as long as
 * each try brings something; a body that ends too early is an error and no end.
 */
export function resumedBody(store: ObjectStore, object: ObjectInfo, { signal, explain }: Reading): Readable {
  const explained = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* bytesOf(store, object, signal)
    } catch (error) {
      throw explain(error)
    }
  }
  return Readable.from(explained(), { objectMode: false, highWaterMark: 1024 * 1024 })
}

export interface Reading {
  readonly signal: AbortSignal
  /** What the reader is to see of an error. */
  readonly explain: (error: unknown) => unknown
}

async function* bytesOf(store: ObjectStore, { key, etag, size, sha256 }: ObjectInfo, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  // Over all parts: a store sees only those that it gives at once.
  const hash = sha256 === null ? null : createHash('sha256')
  let at = 0
  let failures = 0
  while (at < size) {
    const before = at
    try {
      const body = await store.read(key, { ifMatch: etag, signal, ...(at > 0 && { range: { start: at, end: size - 1 } }) })
      for await (const chunk of body as AsyncIterable<Uint8Array>) {
        at += chunk.byteLength
        hash?.update(chunk)
        yield chunk
      }
      if (at < size) throw new StoreError('unavailable', `${key} broke off after ${at} of ${size} bytes`)
    } catch (error) {
      failures = at > before ? 1 : failures + 1
      if (signal.aborted || !isBreak(error) || failures >= TRIES) throw error
      await sleep(FIRST_WAIT_MS * 2 ** (failures - 1), undefined, { signal })
    }
  }
  if (hash !== null && hash.digest('hex') !== sha256) throw new StoreError('digest_mismatch', `${key} is not what its sha-256 says`)
}

const isBreak = (error: unknown): boolean => error instanceof StoreError && error.kind === 'unavailable'
