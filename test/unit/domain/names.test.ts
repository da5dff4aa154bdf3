import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { attemptName, replicaHostName, replicaName, slug } from '../../../src/domain/names.ts'
import { NAME_PATTERN } from '../../../src/domain/names-on-the-wire.ts'

/** Role names that are likely to meet: few letters, both cases, all separators, sometimes very long. */
const roleName = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'A', 'b', '.', '-', '_'), minLength: 1, maxLength: 5 }),
  fc.string({ unit: fc.constantFrom('a', 'A', '-'), minLength: 55, maxLength: 63 }),
  fc.constantFrom('a-x559aead0', 'a-x559aead', 'A', 'x559aead0', '_', 'é', 'ß', '训练'),
)
const pair = fc.tuple(roleName, roleName).filter(([one, other]) => one !== other)
const attempt = { installation: 'a1b2c3', attemptId: 'att_01h455vb4pex5vsknk084sn02q', epoch: 1 }

describe('a slug', () => {
  test('keeps a text that is fine as it is', () => {
    expect(['trainer', 'a', '0', 'a-b', 'reader-2'].map((text) => slug(text, 20))).toEqual(['trainer', 'a', '0', 'a-b', 'reader-2'])
  })

  test('is short, of letters, digits and inner hyphens', () => {
    fc.assert(
      fc.property(fc.oneof(roleName, fc.string()), fc.integer({ min: 10, max: 63 }), (text, max) => {
        expect(slug(text, max)).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/)
        expect(slug(text, max).length).toBeLessThanOrEqual(max)
      }),
    )
  })

  test('is never shared by two texts', () => {
    fc.assert(
      fc.property(pair, fc.integer({ min: 10, max: 63 }), ([one, other], max) => {
        expect(slug(one, max)).not.toBe(slug(other, max))
      }),
      { numRuns: 1000 },
    )
  })

  test('of a text that looks shortened is never the slug of one that was', () => {
    fc.assert(
      fc.property(
        roleName.filter((text) => slug(text, 20) !== text),
        (text) => {
          expect(slug(slug(text, 20), 20)).not.toBe(slug(text, 20))
        },
      ),
    )
  })
})

describe('the native name of a replica', () => {
  test('says whose it is', () => {
    expect(replicaName({ ...attempt, role: 'trainer', index: 2 })).toBe('berth-a1b2c3-01h455vb4pex5vsknk084sn02q-trainer-2-e1')
    expect(attemptName('a1b2c3', attempt.attemptId)).toBe('berth-a1b2c3-01h455vb4pex5vsknk084sn02q')
  })

  test.each([63, 128])('keeps the limit of %i characters', (max) => {
    fc.assert(
      fc.property(roleName, fc.nat(999), fc.integer({ min: 1, max: 9999 }), (role, index, epoch) => {
        const name = replicaName({ ...attempt, role, index, epoch }, max)
        expect(name.length).toBeLessThanOrEqual(max)
        expect(name).toMatch(/^[a-z0-9-]+$/)
      }),
    )
  })

  test('is never shared by two replicas of an attempt', () => {
    fc.assert(
      fc.property(pair, fc.nat(20), fc.nat(20), ([one, other], index, otherIndex) => {
        expect(replicaName({ ...attempt, role: one, index })).not.toBe(replicaName({ ...attempt, role: other, index: otherIndex }))
      }),
      { numRuns: 1000 },
    )
  })

  test('differs from claim to claim and from attempt to attempt', () => {
    const first = replicaName({ ...attempt, role: 'a', index: 0 })
    expect(replicaName({ ...attempt, role: 'a', index: 0, epoch: 2 })).not.toBe(first)
    expect(replicaName({ ...attempt, attemptId: 'att_01h455vb4pex5vsknk084sn02r', role: 'a', index: 0 })).not.toBe(first)
    expect(replicaName({ ...attempt, installation: 'a1b2c4', role: 'a', index: 0 })).not.toBe(first)
  })
})

describe('the host name of a replica', () => {
  test('is a DNS label of its own', () => {
    fc.assert(
      fc.property(pair, fc.nat(999), fc.nat(999), ([one, other], index, otherIndex) => {
        const name = replicaHostName(one, index)
        expect(name).toMatch(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/)
        expect(name).not.toBe(replicaHostName(other, otherIndex))
      }),
      { numRuns: 1000 },
    )
  })
})

test('every name that a role may have is at most 63 characters long', () => {
  expect(NAME_PATTERN.test('a'.repeat(63))).toBe(true)
  expect(NAME_PATTERN.test('a'.repeat(64))).toBe(false)
})
