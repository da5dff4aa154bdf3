import type { ObjectInfo, ObjectStore } from '../../stores/object-store.ts'

const PAGE = 1_000

/** All objects below a prefix, in the order of their keys. */
export async function* objectsBelow(store: ObjectStore, prefix: string, signal: AbortSignal): AsyncGenerator<ObjectInfo> {
  let after: string | null = null
  do {
    const page = await store.list({ prefix, delimiter: null, after, limit: PAGE, signal })
    yield* page.objects
    after = page.next
  } while (after !== null)
}
