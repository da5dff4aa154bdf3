import { describe, expect, test } from 'vitest'
import { admit } from '../../../src/domain/admit.ts'
import type { DriveSnapshot } from '../../../src/domain/drives/drive.ts'
import { resolveDrive } from '../../../src/domain/drives/resolve-drive.ts'
import { SCHEDULER_PROFILES } from '../../../src/domain/drives/scheduler-profiles.ts'
import { parseJobBody } from '../../../src/domain/job-request.ts'
import type { DriveMount, Mount } from '../../../src/domain/mount.ts'
import { normaliseJob } from '../../../src/domain/normalise-job.ts'

const jobOf = (role: object, more: object = {}) => parseJobBody({ scheduler: 'local', roles: [{ command: ['true'], ...role }], ...more })
const codes = (role: object): string[] => {
  const read = jobOf(role)
  return read.ok ? [] : read.faults.map(({ code }) => code)
}
const mountsOf = (role: object): readonly Mount[] => {
  const read = jobOf(role)
  const normalised = read.ok ? normaliseJob(read.value) : null
  if (!normalised?.ok) throw new Error(JSON.stringify(read))
  return normalised.spec.roles[0]?.mounts ?? []
}
const s3 = (more: object = {}) => ({
  type: 'source',
  source: { kind: 's3', bucket: 'foo', prefix: 'bar/', credentials: { method: 'none' } },
  ...more,
})

describe('mounts of drives', () => {
  test.each([
    ['Lightning 12: the last part of the source', s3(), '/data/bar'],
    [
      'Lightning 12: the whole name of the bucket',
      { type: 'source', source: { kind: 's3', bucket: 'my.bucket', credentials: { method: 'none' } } },
      '/data/my.bucket',
    ],
    ['the name of the drive', { type: 'drive', drive: 'datasets' }, '/data/datasets'],
    ['what is given, without a slash at its end', { type: 'drive', drive: 'datasets', path: '/x/' }, '/x'],
  ])('lie at %s', (_, mount, path) => {
    expect(mountsOf({ mounts: [mount] })[0]?.path).toBe(path)
  })

  test.each([
    ['Lightning 13: a relative path', [{ type: 'drive', drive: 'd', path: './foo' }], 'relative_path'],
    ['Lightning 13: a path that climbs', [{ type: 'drive', drive: 'd', path: '/a/../b' }], 'dot_in_path'],
    ['Lightning 13: an empty part', [{ type: 'drive', drive: 'd', path: '/a//b' }], 'empty_path_part'],
    ['Lightning 13: the root', [{ type: 'drive', drive: 'd', path: '/' }], 'reserved_path'],
    ['Lightning 13: /proc', [{ type: 'drive', drive: 'd', path: '/proc' }], 'reserved_path'],
    ['Lightning 13: /dev', [{ type: 'drive', drive: 'd', path: '/dev' }], 'reserved_path'],
    [
      'Lightning 14: one path twice',
      [
        { type: 'drive', drive: 'd', path: '/foo' },
        { type: 'drive', drive: 'e', path: '/foo/' },
      ],
      'duplicate_path',
    ],
    [
      'Lightning 14: one inside another',
      [
        { type: 'drive', drive: 'd', path: '/a' },
        { type: 'drive', drive: 'e', path: '/a/b' },
      ],
      'nested_path',
    ],
    ['Lightning 34: a part that climbs', [{ type: 'drive', drive: 'd', subPath: '../x' }], 'dot_in_path'],
    ['Lightning 8: a scheme that is none', [{ type: 'source', source: { kind: '3' } }], 'unknown_value'],
    ['a bucket without credentials', [{ type: 'source', source: { kind: 's3', bucket: 'foo' } }], 'missing_field'],
    ['Lightning 11: an optimization that is none', [{ type: 'drive', drive: 'd', optimization: 'indexed-s3' }], 'unknown_value'],
    ['a pattern that climbs', [{ type: 'drive', drive: 'd', outputs: { include: ['../*'] } }], 'bad_pattern'],
  ])('are refused for %s', (_, mounts, code) => {
    expect(codes({ mounts })).toContain(code)
  })

  test('may lie inside of one that allows it', () => {
    expect(
      codes({
        mounts: [
          { type: 'drive', drive: 'd', path: '/a', allowNested: true },
          { type: 'drive', drive: 'e', path: '/a/b' },
        ],
      }),
    ).toEqual([])
  })

  test.each([
    [
      'type=drive,src=datasets,dst=/data,mode=copy_in,readonly',
      { type: 'drive', drive: 'datasets', path: '/data', mode: 'copy_in', access: 'ro' },
    ],
    ['type=drive,src=lit://datasets', { type: 'drive', drive: 'datasets', path: '/data/datasets', mode: 'auto', access: 'ro' }],
    ['type=drive,src=models,mode=copy_out,subpath=runs/1', { mode: 'copy_out', access: 'rw', subPath: 'runs/1' }],
    [
      'type=source,src=s3://foo/bar/,credentials=none',
      { type: 'source', source: { kind: 's3', prefix: 'bar/' }, credentials: { method: 'none' }, path: '/data/bar' },
    ],
    [
      'type=source,src=s3://foo/bar/key.csv,credentials=keys,mode=copy_in',
      { source: { prefix: 'bar/' }, subPath: 'key.csv', credentials: { method: 'secret', secret: 'keys' } },
    ],
  ])('in one string: %s', (text, expected) => {
    expect(mountsOf({ mountStrings: [text] })).toMatchObject([expected])
  })

  test.each([
    ['type=source,src=s3://foo/key,credentials=none,mode=mount', 'requires_prefix'],
    ['type=source,src=s3://foo/', 'missing_field'],
    ['type=source,src=3://foo/', 'unknown_scheme'],
    ['type=drive,dst=/x', 'missing_source'],
    ['type=drive,src=d,mode=floppy', 'unknown_value'],
    ['type=volume,src=foo2,dst=/x,mode=mount', 'key_not_for_type'],
  ])('in one string are refused: %s', (text, code) => {
    expect(codes({ mountStrings: [text] })).toContain(code)
  })
})

describe('a job with drives is admitted', () => {
  const managed: DriveSnapshot = {
    id: 'drv_1',
    name: 'd',
    version: 1,
    access: 'rw',
    source: { kind: 'managed', ownership: 'flat', maxBytes: null, maxObjects: null },
    credentials: null,
  }
  const claim: DriveSnapshot = { ...managed, name: 'claim', source: { kind: 'pvc', claimName: 'claim' } }
  const drives = new Map([
    ['d', managed],
    ['claim', claim],
  ])
  const admission = (role: object, others: string[] = []) => {
    const read = jobOf(role)
    const normalised = read.ok ? normaliseJob(read.value) : null
    if (!normalised?.ok) throw new Error(JSON.stringify(read))
    const facts = (name: string) => ({ name, ...SCHEDULER_PROFILES[name]! })
    return admit(normalised.spec, facts('local'), { drives, others: others.map(facts), mountPointers: normalised.mountPointers })
  }
  const faults = (role: object, others?: string[]) => {
    const admitted = admission(role, others)
    return admitted.ok ? [] : admitted.faults
  }

  test('Lightning 16: a managed drive in any mode that its scheduler has', () => {
    for (const mode of ['auto', 'api', 'mount', 'copy_in', 'copy_out', 'copy_in_out']) {
      const access = mode.includes('out') ? 'rw' : 'ro'
      expect(faults({ mounts: [{ type: 'drive', drive: 'd', mode, access }] }), mode).toEqual([])
    }
  })

  test('Lightning 18: never with a mount that is left out', () => {
    const [fault] = faults({ mounts: [{ type: 'drive', drive: 'claim' }] })
    expect(fault).toMatchObject({ pointer: '/roles/0/mounts/0', code: 'mount_unsupported' })
  })

  test('Lightning 19: without a mount, by a reference, where its jobs reach the API', () => {
    const api = (mount: object) => faults({ mounts: [{ mode: 'api', ...mount }] })
    const admitted = admission({ mounts: [{ type: 'drive', drive: 'd', mode: 'api', subPath: 'a/' }] })
    expect(admitted.ok && admitted.resolutions[0]?.plan).toEqual({
      via: 'reference',
      path: '/data/d',
      url: 'http://berth.example:8080/v1/drives/d/objects',
      prefix: 'a',
    })
    expect(api({ type: 'source', source: s3().source })).toMatchObject([{ code: 'not_registered' }])
    expect(api({ type: 'drive', drive: 'd', requires: ['rename'] })).toMatchObject([{ code: 'semantics_missing' }])
    expect(api({ type: 'drive', drive: 'd' })).toEqual([])
  })

  test('in mode api only where its jobs reach the API', () => {
    const { kind, capabilities } = SCHEDULER_PROFILES['local']!
    const [mount] = mountsOf({ mounts: [{ type: 'drive', drive: 'd', mode: 'api' }] })
    const resolved = resolveDrive(managed, mount as DriveMount, { kind, capabilities: { ...capabilities, apiUrl: null } })
    expect(resolved).toMatchObject({
      ok: false,
      reasons: [{ code: 'api_unreachable', detail: expect.stringContaining('BERTH_PUBLIC_URL') }],
    })
  })

  test('with every reason of every mount at once, and what would do', () => {
    const told = faults(
      {
        mounts: [
          { type: 'drive', drive: 'claim', path: '/a' },
          { type: 'drive', drive: 'none', path: '/b' },
          { type: 'drive', drive: 'd', mode: 'cached', path: '/c' },
        ],
      },
      ['kubernetes'],
    )
    expect(told.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['/roles/0/mounts/0', 'mount_unsupported'],
      ['/roles/0/mounts/1', 'unknown_drive'],
      ['/roles/0/mounts/2', 'mode_unsupported'],
    ])
    expect(told[2]?.detail).toContain('here mode auto or mount or copy_in would do')
    expect(
      faults({ mounts: [{ type: 'drive', drive: 'claim' }] }, ['docker'])
        .map(({ detail }) => detail)
        .join(),
    ).not.toContain('could go to')
  })

  test('only if its replicas put their files at different places', () => {
    const mount = { type: 'drive', drive: 'd', mode: 'copy_out' }
    expect(faults({ replicas: 2, mounts: [mount] })).toMatchObject([{ code: 'outputs_collide' }])
    expect(faults({ replicas: 2, mounts: [{ ...mount, subPath: 'out/${replica}' }] })).toEqual([])
    expect(faults({ mounts: [{ type: 'drive', drive: 'd', mode: 'mount', subPath: '${replica}' }] })).toMatchObject([
      { code: 'macro_unsupported' },
    ])
  })

  test('whose paths its commands name by the drive, if the role mounts it', () => {
    const command = ['cat', '${drive.d.path}/x', '$${drive.other.path}']
    expect(codes({ command, mounts: [{ type: 'drive', drive: 'd', path: '/in' }] })).toEqual([])
    expect(jobOf({ command, env: { OUT: '${drive.out.path}' } })).toMatchObject({
      faults: [
        { pointer: '/roles/0/command/1', code: 'unknown_drive' },
        { pointer: '/roles/0/env/OUT', code: 'unknown_drive' },
      ],
    })
  })

  test('only if what it takes out while it runs may meet what it took out before', () => {
    const mount = { type: 'drive', drive: 'd', mode: 'copy_out', onConflict: 'fail', outputs: { intervalSeconds: 60 } }
    expect(faults({ mounts: [mount] })).toMatchObject([{ code: 'checkpoints_collide', pointer: '/roles/0/mounts/0' }])
    expect(faults({ mounts: [{ ...mount, onConflict: 'keep' }] })).toEqual([])
  })
})
