import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expandMacros, longestExpansion } from '../../../src/domain/macros.ts'

const pathOf = (drive: string) => (drive === 'data' ? '/data/sets' : null)
const values = { job_id: 'job_01', attempt: 2, role: 'trainer', replica: 7, pathOf }

describe('macros', () => {
  test.each([
    ['${job_id} ${attempt} ${role} ${replica}', 'job_01 2 trainer 7'],
    ['${replica}${replica}', '77'],
    ['/out/${role}-${replica}.txt', '/out/trainer-7.txt'],
    ['${drive.data.path}/x ${drive.other.path} $${drive.data.path}', '/data/sets/x ${drive.other.path} ${drive.data.path}'],
    ['nothing', 'nothing'],
  ])('in %j give %j', (text, expected) => {
    expect(expandMacros(text, values)).toBe(expected)
  })

  test.each(['${HOME}', '$HOME', '${replicas}', '${ replica }', '${Replica}', '$replica', '${replica', '$${HOME}', '$$', '${role:-x}'])(
    'leave %s to the shell',
    (text) => {
      expect(expandMacros(text, values)).toBe(text)
    },
  )

  test('are written as they are by doubling the dollar', () => {
    expect(expandMacros('$${replica} ${replica} $$${role}', values)).toBe('${replica} 7 $${role}')
  })

  test('are not looked for in what they bring in', () => {
    expect(expandMacros('${role}', { ...values, role: '${job_id}$&$1' })).toBe('${job_id}$&$1')
  })

  test('are never longer than said', () => {
    const text = fc.array(
      fc.oneof(fc.constantFrom('${job_id}', '${attempt}', '${role}', '${replica}', '${drive.d.path}', '$', '{', '}'), fc.string()),
    )
    fc.assert(
      fc.property(text, fc.nat(1_000_000), fc.nat(999), (parts, attempt, replica) => {
        const whole = parts.join('')
        const real = { job_id: `job_${'0'.repeat(26)}`, attempt, role: 'r'.repeat(63), replica, pathOf: () => 'p'.repeat(1024) }
        expect(Buffer.byteLength(expandMacros(whole, real))).toBeLessThanOrEqual(longestExpansion(whole))
      }),
    )
  })
})
