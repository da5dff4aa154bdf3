import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import type { MountPlace, StagedTree, Staging } from '../../src/schedulers/scheduler.ts'

/** For submits that stage nothing. */
export const NOTHING_STAGED: Staging = {
  open: (place) => Promise.reject(new Error(`nothing is staged at ${place.path}`)),
}

/** Files by path, and how often each was opened. */
export class StagedFiles implements Staging {
  readonly opened = new Map<string, number>()
  readonly #files: ReadonlyMap<string, Buffer>

  constructor(files: Readonly<Record<string, Buffer | string>>) {
    this.#files = new Map(Object.entries(files).map(([path, bytes]) => [path, Buffer.from(bytes)]))
  }

  async open(_place: MountPlace): Promise<StagedTree> {
    const files = [...this.#files].map(([path, bytes]) => ({
      path,
      size: bytes.byteLength,
      open: async () => {
        this.opened.set(path, (this.opened.get(path) ?? 0) + 1)
        return Readable.from([bytes])
      },
    }))
    const version = createHash('sha256')
    for (const [path, bytes] of this.#files) version.update(`${path}\0${bytes.byteLength}\0`).update(bytes)
    return { version: version.digest('hex'), totalBytes: files.reduce((sum, { size }) => sum + size, 0), files, copyTo: null }
  }
}
