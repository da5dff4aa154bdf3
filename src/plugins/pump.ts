/**
 * Hands every item of a source to `take`, until the source ends or the signal is aborted, and never waits for a
 * source that does not look at the signal.
 *
 * @returns whether the source came to its end
 */
export async function pump<T>(source: AsyncIterator<T>, signal: AbortSignal, take: (item: T) => Promise<void>): Promise<boolean> {
  try {
    for (;;) {
      const next = await unlessAborted(source.next(), signal)
      if (next === null) return false
      if (next.done === true) return true
      await take(next.value)
    }
  } finally {
    source.return?.().then(undefined, () => undefined)
  }
}

/** Not `Promise.race` with one promise for all rounds: that would keep every round's result until the end. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(null)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
