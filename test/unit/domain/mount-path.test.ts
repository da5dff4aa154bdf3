import { posix } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isUnder, overlapFlaws, pathFlaw, plainPath, targetFlaw } from '../../../src/domain/mount-path.ts'

describe('a path', () => {
  const fine = ['/', '/a', '/a/', '/a/b.c', '/a/..b', '/a/~b', '/a b', '/ä/日本', '/a,b', '/a"b', '/a:b', '/a\\b']
  test.each(fine)('%j is fine', (path) => {
    expect(pathFlaw(path)).toBeNull()
  })

  test.each([
    ['', 'relative_path'],
    ['a', 'relative_path'],
    ['./a', 'relative_path'],
    ['~', 'home_path'],
    ['~/a', 'home_path'],
    ['~you/a', 'home_path'],
    ['/a/..', 'dot_in_path'],
    ['/../a', 'dot_in_path'],
    ['/a/./b', 'dot_in_path'],
    ['/..', 'dot_in_path'],
    ['//', 'empty_path_part'],
    ['//a', 'empty_path_part'],
    ['/a//b', 'empty_path_part'],
    ['/a//', 'empty_path_part'],
    ['/a\nb', 'control_character'],
    ['/a\0b', 'control_character'],
    [`/${'a'.repeat(256)}`, 'path_too_long'],
    [`${'/abcdefg'.repeat(128)}h`, 'path_too_long'],
    [`/${'ä'.repeat(128)}`, 'path_too_long'],
  ])('%j is refused: %s', (path, code) => {
    expect(pathFlaw(path)?.code).toBe(code)
  })

  test('loses the slash at its end, but the root keeps it', () => {
    expect(['/a/', '/a', '/'].map(plainPath)).toEqual(['/a', '/a', '/'])
  })

  test('lies under a directory by whole parts, and never under itself', () => {
    expect(isUnder('/a', '/a/b')).toBe(true)
    expect(isUnder('/a/', '/a/b/c')).toBe(true)
    expect(isUnder('/', '/a')).toBe(true)
    expect(isUnder('/a', '/ab')).toBe(false)
    expect(isUnder('/a', '/a')).toBe(false)
    expect(isUnder('/a/b', '/a')).toBe(false)
    expect(isUnder('/', '/')).toBe(false)
  })

  test('without flaw stays what it is when it is resolved, and is judged alike without the slash at its end', () => {
    const parts = fc.array(fc.oneof(fc.constantFrom('..', '.', '', '~', 'a'), fc.string({ maxLength: 6 })), { maxLength: 6 })
    fc.assert(
      fc.property(parts, fc.constantFrom('', '/'), (words, start) => {
        const text = start + words.join('/')
        if (pathFlaw(text) !== null) return
        expect(posix.resolve('/elsewhere', text)).toBe(plainPath(text))
        expect(pathFlaw(plainPath(text))).toBeNull()
      }),
    )
  })
})

describe('the place of a mount', () => {
  test.each([
    '/',
    '/proc',
    '/proc/',
    '/proc/1/x',
    '/sys',
    '/sys/fs',
    '/dev',
    '/etc/hosts',
    '/etc/hostname',
    '/etc/resolv.conf',
    '/run/docker.sock',
  ])('%s is reserved, whatever the type', (path) => {
    for (const type of ['volume', 'bind', 'device', 'tmpfs'] as const) expect(targetFlaw(path, type)?.code).toBe('reserved_path')
  })

  test.each(['/procedure', '/system', '/devices', '/etc', '/etc/hosts.d', '/tmp', '/run', '/home'])('%s is free', (path) => {
    for (const type of ['volume', 'bind', 'device', 'tmpfs'] as const) expect(targetFlaw(path, type)).toBeNull()
  })

  test('below /dev is for devices alone', () => {
    expect(targetFlaw('/dev/fuse', 'device')).toBeNull()
    expect(targetFlaw('/dev/net/tun', 'device')).toBeNull()
    for (const type of ['volume', 'bind', 'tmpfs'] as const) expect(targetFlaw('/dev/fuse', type)?.code).toBe('reserved_path')
  })

  test('/dev/shm is for a tmpfs alone', () => {
    expect(targetFlaw('/dev/shm', 'tmpfs')).toBeNull()
    expect(targetFlaw('/dev/shm/', 'tmpfs')).toBeNull()
    for (const type of ['volume', 'bind', 'device'] as const) expect(targetFlaw('/dev/shm', type)?.code).toBe('reserved_path')
    expect(targetFlaw('/dev/shm/x', 'tmpfs')?.code).toBe('reserved_path')
  })
})

describe('mounts of one role', () => {
  const at = (...paths: string[]) => overlapFlaws(paths.map((path, index) => ({ path, allowNested: false, at: ['mounts', index] })))

  test('may lie side by side, also with like beginnings', () => {
    expect(at('/a', '/ab', '/b/a', '/b/ab')).toEqual([])
  })

  test('may not take the same path, told of the later one', () => {
    expect(at('/a', '/b', '/a')).toEqual([
      { path: ['mounts', 2], code: 'duplicate_path', detail: '"/a" is taken by mounts/0: give each mount its own path' },
    ])
  })

  test.each([
    ['/a', '/a/b/c'],
    ['/a/b/c', '/a'],
  ])('may not lie inside each other: %s and %s', (first, second) => {
    expect(at(first, second)).toEqual([
      {
        path: ['mounts', 1],
        code: 'nested_path',
        detail:
          '"/a/b/c" lies inside "/a", another mount of the role: put them side by side, or say allowNested on a drive that is ' +
            'the outer one',
      },
    ])
  })
})
