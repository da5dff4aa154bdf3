import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LogChunk } from '../../../src/domain/attempt.ts'
import { cutMark, cutOutput } from '../../../src/services/logs/cut-output.ts'

const chunk = (offset: number, bytes: Uint8Array): LogChunk => ({ stream: 'stdout', offset, bytes })

/** What is stored of an output that is read from a position in pieces of these sizes. */
function stored(output: Buffer, maxBytes: number | null, { from = 0, sizes }: { from?: number; sizes: readonly number[] }): Buffer {
  const kept: Uint8Array[] = []
  let offset = from
  for (let piece = 0; offset < output.length; piece += 1) {
    const size = Math.max(1, sizes[piece % sizes.length] ?? 1)
    const cut = cutOutput(chunk(offset, output.subarray(offset, offset + size)), maxBytes)
    if (cut !== null) {
      expect(cut.offset).toBe(from + kept.reduce((sum, { length }) => sum + length, 0))
      kept.push(cut.bytes)
    }
    offset += size
  }
  return Buffer.concat(kept)
}

const sizes = fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 10 })
const output = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))

describe('an output', () => {
  it('that is no longer than it may be, or may be of any length, is kept as it is', () => {
    fc.assert(
      fc.property(output, sizes, (bytes, pieces) => {
        expect(stored(bytes, bytes.length, { sizes: pieces })).toEqual(bytes)
        expect(stored(bytes, null, { sizes: pieces })).toEqual(bytes)
      }),
    )
  })

  it('that is longer ends with a mark, in whatever pieces it is read', () => {
    fc.assert(
      fc.property(output, sizes, fc.nat({ max: 299 }), (bytes, pieces, most) => {
        fc.pre(most < bytes.length)
        expect(stored(bytes, most, { sizes: pieces })).toEqual(Buffer.concat([bytes.subarray(0, most), cutMark(most)]))
      }),
    )
  })

  it('that is read again from where it was stored gets nothing more behind the mark', () => {
    const bytes = Buffer.alloc(5_000, 'x')
    const first = stored(bytes, 1_000, { sizes: [300] })
    expect(first.length).toBe(1_000 + cutMark(1_000).length)
    expect(stored(bytes, 1_000, { from: first.length, sizes: [300] }).length).toBe(0)
    expect(stored(bytes, 1_000, { from: 1_000, sizes: [300] })).toEqual(cutMark(1_000))
  })

  it('says how much of it there is', () => {
    expect(cutMark(1024 * 1024 * 1024).toString()).toBe('\n[berth: this output is longer than 1024 MiB and was cut here]\n')
  })
})
