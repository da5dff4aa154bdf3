import { describe, expect, test } from 'vitest'
import { resolveMount, type PlainMount as Mount } from '../../../src/domain/resolve-mount.ts'
import { capabilities } from './a-job.ts'

const bind = (source: string, access: 'ro' | 'rw' = 'ro'): Mount => ({ type: 'bind', source, path: '/x', access })
const reasonsFor = (mount: Mount, can = capabilities()): string[] => {
  const resolved = resolveMount(mount, can)
  return resolved.ok ? [] : resolved.reasons.map(({ code }) => code)
}

describe('a mount is resolved', () => {
  test.each<[Mount, object]>([
    [
      { type: 'volume', source: 'foo2', path: '/a', access: 'ro' },
      { via: 'named_volume', volume: 'foo2', path: '/a', readOnly: true },
    ],
    [
      { type: 'bind', source: '/srv/x', path: '/a', access: 'rw' },
      { via: 'host_path', hostPath: '/srv/x', path: '/a', readOnly: false },
    ],
    [
      { type: 'device', source: '/dev/fuse', path: '/dev/f', permissions: 'r' },
      { via: 'device', hostPath: '/dev/fuse', path: '/dev/f', permissions: 'r' },
    ],
    [
      { type: 'tmpfs', path: '/a', access: 'rw', sizeMiB: 4 },
      { via: 'tmpfs', path: '/a', sizeMiB: 4, readOnly: false },
    ],
  ])('%j as %j', (mount, plan) => {
    expect(resolveMount(mount, capabilities())).toEqual({
      ok: true,
      plan,
      candidates: [{ via: (plan as { via: string }).via, mode: 'mount', taken: true, reason: null }],
      warnings: [],
    })
  })

  test('not at all where the scheduler has no such mounts, with the reason beside the way that was dropped', () => {
    const reason = 'this scheduler has no mounts of type "tmpfs"'
    expect(resolveMount({ type: 'tmpfs', path: '/a', access: 'rw', sizeMiB: null }, capabilities({ mountVia: [] }))).toEqual({
      ok: false,
      reasons: [{ code: 'mount_unsupported', detail: reason }],
      candidates: [{ via: 'tmpfs', mode: 'mount', taken: false, reason }],
    })
  })
})

describe('a bind', () => {
  test.each(['/srv', '/srv/x', '/srv/x/y', '/srv/..x'])('may come from %s under /srv', (source) => {
    expect(reasonsFor(bind(source, 'rw'))).toEqual([])
  })

  test.each(['/srvx', '/sr', '/', '/etc', '/home/srv/x', '/SRV/x'])('may not come from %s', (source) => {
    expect(reasonsFor(bind(source))).toEqual(['bind_not_allowed'])
  })

  test('may only be read where the innermost directory around it may only be read, in whatever order they are listed', () => {
    for (const bindRoots of [capabilities().bindRoots, [...capabilities().bindRoots].reverse()]) {
      expect(reasonsFor(bind('/srv/fixed/x', 'rw'), capabilities({ bindRoots }))).toEqual(['bind_read_only'])
      expect(reasonsFor(bind('/srv/fixed/x', 'ro'), capabilities({ bindRoots }))).toEqual([])
      expect(reasonsFor(bind('/srv/fixed2', 'rw'), capabilities({ bindRoots }))).toEqual([])
    }
  })

  test('may be written where an inner directory may be written', () => {
    const bindRoots = [
      { root: '/srv/', readOnly: true },
      { root: '/srv/scratch/', readOnly: false },
    ]
    expect(reasonsFor(bind('/srv/scratch/x', 'rw'), capabilities({ bindRoots }))).toEqual([])
    expect(reasonsFor(bind('/srv/x', 'rw'), capabilities({ bindRoots }))).toEqual(['bind_read_only'])
  })

  test('may only be read where the same directory is listed both ways', () => {
    const both = [
      { root: '/srv', readOnly: false },
      { root: '/srv', readOnly: true },
    ]
    for (const bindRoots of [both, [...both].reverse()]) {
      expect(reasonsFor(bind('/srv/x', 'rw'), capabilities({ bindRoots }))).toEqual(['bind_read_only'])
    }
  })

  test.each(['/', '/proc', '/proc/1/root', '/sys/fs', '/dev/sda', '/run', '/run/docker.sock', '/var', '/var/run/docker.sock'])(
    'of %s is refused even where the operator allows everything',
    (source) => {
      expect(reasonsFor(bind(source), capabilities({ bindRoots: [{ root: '/', readOnly: false }] }))).toEqual(['bind_not_allowed'])
    },
  )

  test('that is refused says what is allowed', () => {
    const resolved = resolveMount(bind('/etc'), capabilities())
    expect(resolved).toMatchObject({ reasons: [{ detail: expect.stringContaining('allowed are /srv, /srv/fixed (read-only)') }] })
    expect(resolveMount(bind('/etc'), capabilities({ bindRoots: [] }))).toMatchObject({
      reasons: [{ detail: expect.stringContaining('none is allowed') }],
    })
  })
})

describe('a device', () => {
  const device = (source: string): Mount => ({ type: 'device', source, path: source, permissions: 'rwm' })

  test('must be listed by its exact path', () => {
    expect(reasonsFor(device('/dev/fuse'))).toEqual([])
    expect(['/dev/fuse0', '/dev/fus', '/dev', '/dev/fuse/x'].map((source) => reasonsFor(device(source)))).toEqual(
      Array.from({ length: 4 }, () => ['device_not_allowed']),
    )
  })
})
