import { describe, expect, it } from 'vitest'
import { partBytes } from '../../../src/stores/part-size.ts'

const MIB = 1024 * 1024

describe('the parts of an upload', () => {
  it.each([
    ['nothing', 0, 8],
    ['5 GiB', 5 * 1024, 8],
    ['100 GiB', 100 * 1024, 12],
    ['5 TiB, the most of S3', 5 * 1024 * 1024, 583],
  ])('of %s are small, and no more than S3 takes', (_, mebibytes, part) => {
    expect(partBytes(mebibytes * MIB)).toBe(part * MIB)
    expect((mebibytes * MIB) / partBytes(mebibytes * MIB)).toBeLessThan(10_000)
  })

  it('of a stream that does not say its length leave room for 140 GiB', () => {
    expect(partBytes(undefined) * 9_000).toBeGreaterThan(140 * 1024 * MIB)
  })
})
