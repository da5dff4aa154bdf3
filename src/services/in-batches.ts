/**
 * Repeats an act on many rows, some at a time, until it finds less than a whole batch or is told to stop.
 *
 * @param act gives how many it found
 */
export async function inBatches(size: number, stop: AbortSignal, act: () => Promise<number>): Promise<void> {
  while (!stop.aborted) if ((await act()) < size) return
}
