import { describe, expect, it } from 'vitest'
import { canonicalJson, readIdempotency } from '../../../src/plugins/idempotency-key.ts'

describe('readIdempotency', () => {
  it.each([
    ['"8e03978e-40d5-43dd"', '8e03978e-40d5-43dd'],
    ['8e03978e-40d5-43dd', '8e03978e-40d5-43dd'],
    ['"with \\"quotes\\" and \\\\"', 'with "quotes" and \\'],
    [`"${'k'.repeat(255)}"`, 'k'.repeat(255)],
  ])('reads %s', (header, key) => {
    expect(readIdempotency(header, {})?.key).toBe(key)
  })

  it.each(['', '""', '"open', 'two words', 'a, b', '"a", "b"', 'ключ', `"${'k'.repeat(256)}"`, '"bell\u0007"', '"bad \\escape"'])(
    'refuses %j',
    (header) => {
      expect(() => readIdempotency(header, {})).toThrow(expect.objectContaining({ code: 'malformed_request' }) as Error)
    },
  )

  it('is nothing without the header', () => {
    expect(readIdempotency(undefined, {})).toBeNull()
  })

  it('gives bodies that differ in the order of their keys the same fingerprint, and others another', () => {
    const print = (body: unknown) => readIdempotency('k', body)?.fingerprint
    expect(print({ a: 1, b: { c: [1, 2], d: null } })).toBe(print({ b: { d: null, c: [1, 2] }, a: 1 }))
    expect(print({ a: [1, 2] })).not.toBe(print({ a: [2, 1] }))
    expect(print({ a: 1 })).not.toBe(print({ a: '1' }))
    expect(print({ a: 1 })).toMatch(/^[0-9a-f]{64}$/)
  })
})

describe('canonicalJson', () => {
  it('sorts keys at every depth and leaves lists alone', () => {
    expect(canonicalJson({ b: [{ z: 1, a: 2 }, 'x'], a: null })).toBe('{"a":null,"b":[{"a":2,"z":1},"x"]}')
  })
})
