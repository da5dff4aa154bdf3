import { setTimeout as delay } from 'node:timers/promises'

/** Long enough for a refusal to come out of the database, short enough for the head of a quiet stream to be in time. */
const FIRST_MS = 300

/**
 * Starts a source and waits a moment for its first item, so that what it refuses can still be answered with a
 * problem. Afterwards the source is read as if nothing had been taken.
 *
 * @throws what the source throws before its first item
 */
export async function firstOf<T>(source: AsyncIterable<T>): Promise<AsyncIterator<T>> {
  const iterator = source[Symbol.asyncIterator]()
  let first: Promise<IteratorResult<T>> | null = iterator.next()
  const moment = new AbortController()
  await Promise.race([first, delay(FIRST_MS, null, { signal: moment.signal }).catch(() => null)]).finally(() => moment.abort())
  return {
    next() {
      const next = first ?? iterator.next()
      first = null
      return next
    },
    return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
  }
}
