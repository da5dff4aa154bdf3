import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseMountString } from '../../../src/domain/mount-string.ts'

const codes = (text: string): string[] => {
  const read = parseMountString(text)
  return read.ok ? [] : read.flaws.map(({ code }) => code)
}

const mounts = (text: string): unknown => {
  const read = parseMountString(text)
  return read.ok ? read.mounts : read.flaws
}

describe('a mount string', () => {
  test('has its keys in any order where it holds a single mount', () => {
    const mount = { type: 'volume', source: 'foo2', path: '/data', access: 'ro' }
    expect(mounts('src=foo2,readonly,type=volume,dst=/data')).toEqual([mount])
    expect(mounts('dst=/data,ro,src=foo2,type=volume')).toEqual([mount])
  })

  test('begins with a type where it chains several', () => {
    expect(codes('src=foo2,type=volume,dst=/a,type=tmpfs,dst=/b')).toEqual(['type_not_first'])
  })

  test.each([
    ['readonly', 'ro'],
    ['read_only', 'ro'],
    ['ro', 'ro'],
    ['readonly=true', 'ro'],
    ['readonly=1', 'ro'],
    ['ro=true', 'ro'],
    ['readonly=false', 'rw'],
    ['read_only=0', 'rw'],
    ['ro=0', 'rw'],
    ['rw', 'rw'],
  ])('with %s gives access %s', (flag, access) => {
    expect(mounts(`type=volume,src=foo2,dst=/data,${flag}`)).toEqual([{ type: 'volume', source: 'foo2', path: '/data', access }])
  })

  test.each([
    ['r', 'r'],
    ['mw', 'wm'],
    ['mwr', 'rwm'],
  ])('takes device permissions %s in one order: %s', (given, permissions) => {
    expect(mounts(`type=device,src=/dev/fuse,perm=${given}`)).toMatchObject([{ permissions }])
  })

  test.each([
    ['64m', 64],
    ['64MiB', 64],
    ['2g', 2048],
    ['1GiB', 1024],
  ])('takes a tmpfs size %s as %i MiB', (size, sizeMiB) => {
    expect(mounts(`type=tmpfs,dst=/fast,size=${size}`)).toEqual([{ type: 'tmpfs', path: '/fast', access: 'rw', sizeMiB }])
  })

  test('leaves the size of a tmpfs open where none is given', () => {
    expect(mounts('type=tmpfs,dst=/fast')).toMatchObject([{ sizeMiB: null }])
  })

  test('takes a slash at the end of a path away', () => {
    expect(mounts('type=bind,src=/srv/x/,dst=/x/')).toMatchObject([{ source: '/srv/x', path: '/x' }])
  })

  test('may hold commas, equals signs and quotes in quotes', () => {
    expect(mounts('type=bind,src="/a,b=c",dst=/x')).toMatchObject([{ source: '/a,b=c' }])
    expect(mounts('type=bind,"src=/a,""b""",dst=/x')).toMatchObject([{ source: '/a,"b"' }])
    expect(mounts('type=bind,src=/a=b,dst=/x')).toMatchObject([{ source: '/a=b' }])
  })

  test('may have blanks around its parts', () => {
    expect(mounts(' type=volume , src=foo2 ,"dst=/data" , ro ')).toMatchObject([{ source: 'foo2', path: '/data', access: 'ro' }])
  })

  test('tells which mount of a chain is wrong', () => {
    expect(mounts('type=tmpfs,dst=/a,type=tmpfs,dst=b')).toEqual([
      { code: 'relative_path', detail: expect.stringMatching(/^mount 2 of 2: "b" /) },
    ])
  })

  test('tells all that is wrong at once', () => {
    expect(codes('type=volume,src=a/b,dst=rel,dst=/x,perm=r,colour=red')).toEqual([
      'unknown_key',
      'bad_volume_name',
      'relative_path',
      'duplicate_key',
      'key_not_for_type',
    ])
  })

  test.each([
    ['', 'empty_mount_string'],
    ['   ', 'empty_mount_string'],
    [',type=tmpfs,dst=/a', 'empty_part'],
    ['type=tmpfs,,dst=/a', 'empty_part'],
    ['type=tmpfs,dst=/a,', 'empty_part'],
    ['type=tmpfs,dst="/a', 'unclosed_quote'],
    ['type=tmpfs,"dst=/a', 'unclosed_quote'],
    ['type=tmpfs,dst=/a"b"', 'misplaced_quote'],
    ['type=tmpfs,dst="/a"b', 'misplaced_quote'],
    ['type=tmpfs,d"st=/a"', 'misplaced_quote'],
    ['dst=/a', 'missing_type'],
    ['type=,dst=/a', 'unknown_type'],
    ['type,dst=/a', 'unknown_type'],
    ['type=BIND,src=/a,dst=/b', 'unknown_type'],
    ['type=__proto__,dst=/a', 'unknown_type'],
    ['type=tmpfs,dst=/a,path=/a', 'unknown_key'],
    ['type=tmpfs,dst=/a,DST=/a', 'unknown_key'],
    ['type=tmpfs,__proto__=/a,dst=/a', 'unknown_key'],
    ['type=volume,src=foo2', 'missing_path'],
    ['type=volume,dst=/a', 'missing_source'],
    ['type=device,dst=/dev/a', 'missing_source'],
    ['type=volume,src,dst=/a', 'missing_value'],
    ['type=volume,src=foo2,dst=', 'empty_value'],
    ['type=volume,src=foo2,dst=""', 'empty_value'],
    ['type=device,src=/dev/a,perm=', 'empty_value'],
    ['type=volume,src=foo2,dst=/a,readonly=', 'empty_value'],
    ['type=volume,src=foo2,source=foo2,dst=/a', 'duplicate_key'],
    ['type=volume,src=foo2,dst=/a,target=/a', 'duplicate_key'],
    ['type=volume,src=foo2,dst=/a,ro,rw', 'duplicate_key'],
    ['type=volume,src=foo2,dst=/a,readonly,readonly', 'duplicate_key'],
    ['type=volume,src=foo2,dst=/a,readonly=yes', 'bad_flag'],
    ['type=volume,src=foo2,dst=/a,rw=true', 'bad_flag'],
    ['type=volume,src=foo2,dst=/a,perm=r', 'key_not_for_type'],
    ['type=bind,src=/a,dst=/a,size=1g', 'key_not_for_type'],
    ['type=device,src=/dev/a,readonly', 'key_not_for_type'],
    ['type=tmpfs,src=/a,dst=/a', 'key_not_for_type'],
    ['type=device,src=/dev/a,perm=rr', 'bad_permissions'],
    ['type=device,src=/dev/a,perm=x', 'bad_permissions'],
    ['type=device,src=/proc/a', 'reserved_path'],
    ['type=tmpfs,dst=/a,size=64', 'bad_size'],
    ['type=tmpfs,dst=/a,size=0m', 'bad_size'],
    ['type=tmpfs,dst=/a,size=999999999g', 'bad_size'],
    ['type=volume,src=x,dst=/a', 'bad_volume_name'],
    ['type=volume,src=../etc,dst=/a', 'bad_volume_name'],
    ['type=volume,src=foo2,dst=~/a', 'home_path'],
    ['type=volume,src=foo2,dst=/a/../b', 'dot_in_path'],
    ['type=volume,src=foo2,dst=/proc', 'reserved_path'],
  ])('%j is refused: %s', (text, code) => {
    expect(codes(text)).toEqual([code])
  })

  test('of any text is read without throwing, and never by accident', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'type=',
        'volume',
        'bind',
        'device',
        'tmpfs',
        'src=',
        'dst=',
        'readonly',
        'perm=rw',
        ',',
        '"',
        '""',
        '=',
        '/a',
        '~',
        ' ',
        '..',
      ),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const read = parseMountString(pieces.join(''))
        const found = read.ok ? read.mounts.map(({ path }) => path) : read.flaws.map(({ code }) => `/${code}`)
        expect(found.length).toBeGreaterThan(0)
        for (const text of found) expect(text).toMatch(/^\/./)
      }),
    )
  })

  test('takes every path and volume name back out of quotes as it went in', () => {
    const part = fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/[/\p{Cc}]/u.test(text) && text !== '.' && text !== '..')
    fc.assert(
      fc.property(part, (name) => {
        const text = `type=bind,src=/srv,"dst=/x/${name.replaceAll('"', '""')}"`
        expect(mounts(text)).toEqual([{ type: 'bind', source: '/srv', path: `/x/${name}`, access: 'rw' }])
      }),
    )
  })

  test('of the greatest length is read at once', () => {
    const started = performance.now()
    for (const letter of [' ', '"', ',', '=', 'a']) parseMountString(letter.repeat(8191) + '"')
    expect(performance.now() - started).toBeLessThan(500)
  })
})
