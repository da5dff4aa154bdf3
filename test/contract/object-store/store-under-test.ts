import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ObjectInfo, ObjectStore } from '../../../src/stores/object-store.ts'

/** A store of one kind for the suite, empty at its beginning. */
export interface StoreUnderTest {
  readonly store: ObjectStore
  /** The same bytes through another instance, as another process would have. */
  again(): ObjectStore
  stop(): Promise<void>
}

/** A signal that never fires. */
export const NEVER = new AbortController().signal

export const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex')

export const put = (store: ObjectStore, key: string, bytes: Buffer | string, more: object = {}): Promise<ObjectInfo> =>
  store.write(key, Readable.from([Buffer.from(bytes)]), { signal: NEVER, ...more })

export async function get(store: ObjectStore, key: string, range?: { start: number; end: number }): Promise<Buffer> {
  const body = await store.read(key, { signal: NEVER, ...(range && { range }) })
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

export async function everyKey(store: ObjectStore, prefix = ''): Promise<string[]> {
  const keys: string[] = []
  let after: string | null = null
  do {
    const page = await store.list({ prefix, delimiter: null, after, limit: 7, signal: NEVER })
    keys.push(...page.objects.map(({ key }) => key))
    after = page.next
  } while (after !== null)
  return keys
}
