import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainUse } from '../../../src/domain/drives/compatibility.ts'
import type { DriveSnapshot } from '../../../src/domain/drives/drive.ts'
import { DRIVE_ACCESS } from '../../../src/domain/drives/drive.ts'
import { resolveDrive } from '../../../src/domain/drives/resolve-drive.ts'
import { SCHEDULER_PROFILES, type SchedulerProfile } from '../../../src/domain/drives/scheduler-profiles.ts'
import { MOUNT_MODES, OPTIMIZATIONS, REQUIREMENTS, type DriveUse } from '../../../src/domain/mount.ts'
import { EXAMPLE_DRIVES } from '../../../src/domain/drives/example-drives.ts'

const drive = fc
  .record({ one: fc.constantFrom(...EXAMPLE_DRIVES), access: fc.constantFrom(...DRIVE_ACCESS) })
  .map(({ one, access }): DriveSnapshot => ({ ...one, access }))
const use: fc.Arbitrary<DriveUse> = fc
  .record({
    mode: fc.constantFrom(...MOUNT_MODES),
    access: fc.constantFrom(...DRIVE_ACCESS),
    subPath: fc.constantFrom('', 'a/b'),
    optimization: fc.constantFrom(...OPTIMIZATIONS),
    immutable: fc.boolean(),
    maxStalenessSeconds: fc.constantFrom(null, 0, 30),
    requires: fc.subarray([...REQUIREMENTS]),
    options: fc.constantFrom<Record<string, string>>({}, {}, { nfsvers: '4.2' }, { 'buffer-size': '16Mi' }, { suid: 'true' }),
  })
  .map(({ mode, access, ...more }) => ({ ...plainUse(mode, access), ...more }))
const place: fc.Arbitrary<SchedulerProfile> = fc.constantFrom(...Object.values(SCHEDULER_PROFILES))

describe('a drive is resolved', () => {
  test('to a plan or to reasons, the same each time', () => {
    fc.assert(
      fc.property(drive, use, place, (one, how, where) => {
        const resolved = resolveDrive(one, how, where)
        expect(resolved.ok || resolved.reasons.length > 0).toBe(true)
        expect(resolveDrive(structuredClone(one), structuredClone(how), where)).toEqual(resolved)
      }),
    )
  })

  test('to one way, and says of every other why not', () => {
    fc.assert(
      fc.property(drive, use, place, (one, how, where) => {
        const { ok, candidates } = resolveDrive(one, how, where)
        expect(candidates.filter(({ taken }) => taken)).toHaveLength(ok ? 1 : 0)
        expect(candidates.every(({ taken, reason }) => taken === (reason === null))).toBe(true)
      }),
    )
  })

  test('never to less than was asked for, nor to more than the drive allows', () => {
    fc.assert(
      fc.property(drive, use, place, (one, how, where) => {
        const resolved = resolveDrive(one, how, where)
        if (!resolved.ok) return
        const { plan } = resolved
        if ('readOnly' in plan && plan.via !== 'tmpfs') expect(plan.readOnly).toBe(how.access === 'ro')
        if (one.access === 'ro') expect(how.access === 'ro' || how.mode === 'copy_in').toBe(true)
        const taken = resolved.candidates.find((candidate) => candidate.taken)
        if (how.mode !== 'auto') expect(taken?.mode).toBe(how.mode)
        expect(where.capabilities.mountVia).toContain(plan.via)
        if (how.requires.includes('lock')) expect(['staged', 'rclone_volume']).not.toContain(plan.via)
      }),
    )
  })

  test('with mode auto never to a reference, a cache, or what needs the scheduler to give up its walls', () => {
    fc.assert(
      fc.property(drive, use, place, (one, how, where) => {
        const resolved = resolveDrive(one, { ...how, mode: 'auto' }, where)
        if (!resolved.ok) return
        expect(['api', 'cached']).not.toContain(resolved.candidates.find((candidate) => candidate.taken)?.mode)
        expect(JSON.stringify(resolved.plan)).not.toContain('privileged')
      }),
    )
  })

  test('to the same in whatever order a scheduler lists what it can', () => {
    fc.assert(
      fc.property(drive, use, place, (one, how, { kind, capabilities }) => {
        const turned = {
          ...capabilities,
          mountVia: [...capabilities.mountVia].reverse(),
          stages: [...capabilities.stages].reverse(),
          csiDrivers: [...capabilities.csiDrivers].reverse(),
        }
        expect(resolveDrive(one, how, { kind, capabilities: turned })).toEqual(resolveDrive(one, how, { kind, capabilities }))
      }),
    )
  })

  test('staler only where the mount says that it may be', () => {
    const s3 = EXAMPLE_DRIVES[1]!
    const where = SCHEDULER_PROFILES['kubernetes + CSI']!
    const options = (more: Partial<DriveUse>) => {
      const resolved = resolveDrive(s3, { ...plainUse('mount', 'ro'), ...more }, where)
      return resolved.ok && resolved.plan.via === 'csi' ? resolved.plan.mountOptions : []
    }
    expect(options({ optimization: 'read_cache' })).toContain('metadata-ttl=minimal')
    expect(options({ optimization: 'read_cache', immutable: true })).toContain('metadata-ttl=604800')
    expect(options({ maxStalenessSeconds: 30 })).toContain('metadata-ttl=30')
    expect(options({ optimization: 'throughput' })).toContain('metadata-ttl=minimal')
  })

  test.each([
    ['nfs', { nfsvers: '4.2', timeo: '100', recovery: 'soft' }, null],
    ['nfs', { nfsvers: '5' }, '"5" is no value of nfsvers'],
    ['nfs', { addr: '10.0.0.1' }, 'nfs has no option addr'],
    ['nfs', { timeo: '100,suid' }, 'is no value of timeo'],
    ['nfs', JSON.parse('{"__proto__": "x"}') as Record<string, string>, 'nfs has no option __proto__'],
    ['managed', { nfsvers: '4.2' }, 'has no option nfsvers here; it takes none'],
  ] as const)('on Docker, of kind %s with options %j, to %j', (kind, options, words) => {
    const one = EXAMPLE_DRIVES.find(({ source }) => source.kind === kind)!
    const { docker } = SCHEDULER_PROFILES
    const resolved = resolveDrive({ ...one, access: 'rw' }, { ...plainUse('mount', 'rw'), options }, docker!)
    const said = resolved.ok ? null : resolved.reasons.map(({ detail }) => detail).join('; ')
    expect(said).toEqual(words === null ? null : expect.stringContaining(words))
  })

  test('with the options of a mount among those of NFS', () => {
    const one = EXAMPLE_DRIVES.find(({ source }) => source.kind === 'nfs')!
    const options = { timeo: '100', recovery: 'soft' }
    const resolved = resolveDrive(one, { ...plainUse('mount', 'ro'), options }, SCHEDULER_PROFILES['docker']!)
    expect(resolved).toMatchObject({ ok: true, plan: { via: 'nfs', options: ['soft', 'timeo=100'] } })
  })
})
