import { describe, expect, it } from 'vitest'
import { entityTag, isUnchanged, requireMatch } from '../../../src/plugins/entity-tag.ts'

const CURRENT = entityTag('train', 3)

describe('entity tags', () => {
  it('are strong and name the version', () => {
    expect(CURRENT).toBe('"train-3"')
  })

  it.each(['"train-3"', '*', '"train-2", "train-3"'])('let a change with If-Match %s through', (header) => {
    expect(() => requireMatch(header, CURRENT)).not.toThrow()
  })

  it.each(['"train-2"', 'W/"train-3"', 'train-3', ''])('stop a change with If-Match %j', (header) => {
    expect(() => requireMatch(header, CURRENT)).toThrow(expect.objectContaining({ code: 'precondition_failed' }) as Error)
  })

  it('stop a change without If-Match', () => {
    expect(() => requireMatch(undefined, CURRENT)).toThrow(expect.objectContaining({ code: 'precondition_required' }) as Error)
  })

  it.each([
    ['"train-3"', true],
    ['W/"train-3"', true],
    ['"a", "train-3"', true],
    ['*', true],
    ['"train-2"', false],
    [undefined, false],
  ])('answer If-None-Match %s with unchanged: %s', (header, unchanged) => {
    expect(isUnchanged(header, CURRENT)).toBe(unchanged)
  })
})
