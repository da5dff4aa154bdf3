import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { resumedBody } from '../../../src/services/staging/resumed-body.ts'
import { StoreError, type ObjectStore, type ReadOptions } from '../../../src/stores/object-store.ts'

const BYTES = Buffer.from('0123456789')
const SHA256 = createHash('sha256').update(BYTES).digest('hex')
const signal = new AbortController().signal

/** Gives each time so many bytes and breaks off then; `swapped` gives others after the first break. */
function breaking(lengths: readonly number[], swapped = false): { store: ObjectStore; starts: number[] } {
  const starts: number[] = []
  const read = async (_key: string, { range }: ReadOptions): Promise<Readable> => {
    const start = range?.start ?? 0
    const length = lengths[starts.push(start) - 1] ?? BYTES.byteLength
    const from = swapped && start > 0 ? Buffer.from('x'.repeat(10)) : BYTES
    async function* body(): AsyncGenerator<Buffer> {
      if (length > 0) yield from.subarray(start, start + length)
      if (start + length < BYTES.byteLength) throw new StoreError('unavailable', 'broke off')
    }
    return Readable.from(body())
  }
  return { store: { read } as unknown as ObjectStore, starts }
}

const read = (store: ObjectStore, sha256: string | null): Promise<Buffer> => {
  const object = { key: 'k', size: BYTES.byteLength, etag: '"1"', modifiedAt: new Date(0), contentType: null, sha256 }
  return buffer(resumedBody(store, object, { signal, explain: (error) => error }))
}

describe('a body that breaks off', () => {
  test('is taken up where it stood, and is whole', async () => {
    const { store, starts } = breaking([3, 4])
    expect((await read(store, SHA256)).toString()).toBe('0123456789')
    expect(starts).toEqual([0, 3, 7])
  })

  test('is no body when its parts together are not what its digest says', async () => {
    await expect(read(breaking([3], true).store, SHA256)).rejects.toMatchObject({ kind: 'digest_mismatch' })
  })

  test('is given up after five tries that bring nothing', { timeout: 20_000 }, async () => {
    const { store, starts } = breaking([2, 0, 0, 0, 0, 0, 0])
    await expect(read(store, null)).rejects.toMatchObject({ kind: 'unavailable' })
    expect(starts).toHaveLength(5)
  })
})
