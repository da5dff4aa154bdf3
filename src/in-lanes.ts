/**
 * Does the work for each item, at most `lanes` at a time, and waits for all of it, so that nothing goes on behind the
 * caller's back.
 *
 * @returns what came of each, in the order of the items
 * @throws the first error, after which no item is begun
 */
export async function inLanes<T, R>(lanes: number, items: Iterable<T>, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const rest = Array.from(items).entries()
  let failed = false
  const lane = async (): Promise<void> => {
    for (const [place, item] of rest) {
      if (failed) return
      try {
        results[place] = await work(item)
      } catch (error) {
        failed = true
        throw error
      }
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: lanes }, lane))
  const failure = ended.find((result) => result.status === 'rejected')
  if (failure !== undefined) throw failure.reason
  return results
}
