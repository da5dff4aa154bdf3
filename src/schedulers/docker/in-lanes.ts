/** A daemon works on few containers at a time anyway; more requests would only wait in its memory. */
const LANES = 8

/**
 * Does the work for each item, some at a time, and waits for all of it, so that nothing goes on behind the caller's back.
 * @throws the first error, after which no item is begun
 */
export async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]()
  let failed = false
  const lane = async (): Promise<void> => {
    for (const item of rest) {
      if (failed) return
      await work(item).catch((error: unknown) => {
        failed = true
        throw error
      })
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: Math.min(LANES, items.length) }, lane))
  const failure = lanes.find((result) => result.status === 'rejected')
  if (failure !== undefined) throw failure.reason
}
