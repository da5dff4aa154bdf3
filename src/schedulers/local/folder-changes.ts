import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'

/** Names of what changes in a folder. Only a hint: the reader must look again once in a while all the same. */
export class FolderChanges {
  readonly #watcher: FSWatcher | null
  #names = new Set<string>()
  #wake = (): void => {}

  /** A folder that cannot be watched (it is gone, or the machine has no watches left) makes `next` wait less instead. */
  constructor(folder: string) {
    this.#watcher = watchOrNull(folder, (name) => {
      this.#names.add(name)
      this.#wake()
    })
  }

  /** What changed since the last call, as soon as there is any; nothing after `longestMs` or the end of the signal. */
  async next(longestMs: number, signal: AbortSignal): Promise<ReadonlySet<string>> {
    if (this.#names.size === 0 && !signal.aborted) {
      await this.#change(this.#watcher === null ? Math.min(longestMs, UNWATCHED_MS) : longestMs, signal)
    }
    const names = this.#names
    this.#names = new Set()
    return names
  }

  #change(longestMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        this.#wake = () => {}
        resolve()
      }
      const timer = setTimeout(done, longestMs)
      signal.addEventListener('abort', done, { once: true })
      this.#wake = done
    })
  }

  close(): void {
    this.#watcher?.close()
  }
}

const UNWATCHED_MS = 100

function watchOrNull(folder: string, listener: (name: string) => void): FSWatcher | null {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => listener(name ?? ''))
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return null
  }
}
