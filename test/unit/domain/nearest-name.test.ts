import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nearestName } from '../../../src/domain/nearest-name.ts'

const ROLE = ['name', 'image', 'entrypoint', 'command', 'replicas', 'env', 'resources', 'workingDir', 'user', 'mountStrings', 'mounts']

describe('the nearest name', () => {
  test.each([
    ['comand', 'command'],
    ['Command', 'command'],
    ['working_dir', 'workingDir'],
    ['working-directory', 'workingDir'],
    ['mount_strings', 'mountStrings'],
    ['mount', 'mountStrings'],
    ['cmd', 'command'],
    ['args', 'command'],
    ['environment', 'env'],
    ['num_replicas', 'replicas'],
    ['volumes', 'mounts'],
    ['imge', 'image'],
  ])('to %s is %s', (given, meant) => {
    expect(nearestName(given, ROLE)).toBe(meant)
  })

  test.each(['', '_', 'x', 'zzz', 'priority', 'a'.repeat(65)])('to %s is none', (given) => {
    expect(nearestName(given, ROLE)).toBeNull()
  })

  test('is always a known one', () => {
    fc.assert(
      fc.property(fc.string(), (given) => {
        expect([null, ...ROLE]).toContain(nearestName(given, ROLE))
      }),
    )
  })
})
