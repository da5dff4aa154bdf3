import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { admit } from '../../../src/domain/admit.ts'
import type { SchedulerFacts } from '../../../src/domain/scheduler-facts.ts'
import { RESOURCE_LIMITS, type Capabilities } from '../../../src/domain/capabilities.ts'
import type { JobSpec, RoleSpec } from '../../../src/domain/job-spec.ts'
import type { Mount } from '../../../src/domain/mount.ts'
import { aJob, aRole, capabilities, noLimits } from './a-job.ts'

const docker = (fields: Partial<Capabilities> = {}): SchedulerFacts => ({
  name: 'docker',
  kind: 'docker',
  capabilities: capabilities(fields),
})
const local = (fields: Partial<Capabilities> = {}): SchedulerFacts => ({
  name: 'local',
  kind: 'local',
  capabilities: capabilities({ image: 'unsupported', entrypoint: false, user: false, limits: [], devices: [], maxReplicas: 4, ...fields }),
})
const faultsOf = (spec: JobSpec, scheduler: SchedulerFacts): string[] => {
  const admission = admit(spec, scheduler)
  return admission.ok ? [] : admission.faults.map(({ pointer, code }) => `${pointer} ${code}`)
}
const volume: Mount = { type: 'volume', source: 'foo2', path: '/data', access: 'ro' }
const tmpfs = (path: string): Mount => ({ type: 'tmpfs', path, access: 'rw', sizeMiB: null })

describe('a job that a scheduler can do is admitted', () => {
  test('with every mount resolved, role by role in their order', () => {
    const roles = [
      aRole({ name: 'a', image: 'busybox', mounts: [volume, tmpfs('/t')] }),
      aRole({ name: 'b', image: 'busybox', mounts: [volume] }),
    ]
    const admission = admit(aJob(...roles), docker())
    expect(admission).toMatchObject({
      ok: true,
      resolutions: [
        { role: 'a', path: '/data', access: 'ro', plan: { via: 'named_volume' } },
        { role: 'a', path: '/t', access: 'rw', plan: { via: 'tmpfs' } },
        { role: 'b', path: '/data', access: 'ro', plan: { via: 'named_volume' } },
      ],
    })
    expect(admission.ok && admission.resolutions[0]).toMatchObject({
      mount: volume,
      candidates: [{ via: 'named_volume', taken: true, reason: null }],
    })
  })

  test('with a device that is written to if its permissions say so', () => {
    const device = (permissions: string): Mount => ({ type: 'device', source: '/dev/fuse', path: '/dev/fuse', permissions })
    const accesses = ['r', 'rm', 'w', 'rwm'].map((permissions) => {
      const admission = admit(aJob(aRole({ image: 'busybox', mounts: [device(permissions)] })), docker())
      return admission.ok && admission.resolutions[0]?.access
    })
    expect(accesses).toEqual(['ro', 'ro', 'rw', 'rw'])
  })
})

describe('a job that a scheduler cannot do is refused', () => {
  test('where it needs an image, or has none', () => {
    expect(faultsOf(aJob(aRole()), docker())).toEqual(['/roles/0/image image_required'])
    expect(faultsOf(aJob(aRole({ image: 'busybox' })), local())).toEqual(['/roles/0/image image_unsupported'])
  })

  test('with all reasons of all roles at once', () => {
    const greedy = aRole({
      name: 'b',
      image: 'busybox',
      entrypoint: ['sh'],
      user: '1',
      replicas: 9,
      resources: { ...noLimits, cpus: 1, gpus: 2 },
      mounts: [tmpfs('/t'), { type: 'bind', source: '/etc', path: '/e', access: 'ro' }],
    })
    expect(faultsOf(aJob(aRole({ name: 'a', user: '1' }), greedy), local({ mountVia: ['host_path'] }))).toEqual([
      '/roles too_many_replicas',
      '/roles/0/user user_unsupported',
      '/roles/1/image image_unsupported',
      '/roles/1/entrypoint entrypoint_unsupported',
      '/roles/1/user user_unsupported',
      '/roles/1/resources/cpus limit_unsupported',
      '/roles/1/resources/gpus limit_unsupported',
      '/roles/1/mounts/0 mount_unsupported',
      '/roles/1/mounts/1 bind_not_allowed',
    ])
  })

  test('for the replicas of all its roles together', () => {
    const roles = [aRole({ name: 'a', replicas: 3 }), aRole({ name: 'b', replicas: 2 })]
    expect(faultsOf(aJob(...roles), local({ maxReplicas: 5 }))).toEqual([])
    expect(faultsOf(aJob(...roles), local({ maxReplicas: 4 }))).toEqual(['/roles too_many_replicas'])
  })

  test('for more mounts than its operator allows in a role', () => {
    const mounts = ['/a', '/b', '/c'].map((path) => ({ type: 'tmpfs', path, sizeMiB: null, access: 'rw' }) as const)
    expect(faultsOf(aJob(aRole({ image: 'busybox', mounts })), docker({ maxMounts: 2 }))).toEqual(['/roles/0/mounts too_many'])
    expect(faultsOf(aJob(aRole({ image: 'busybox', mounts })), docker({ maxMounts: 3 }))).toEqual([])
  })

  test('and told where the client wrote the mount', () => {
    const spec = aJob(aRole({ image: 'busybox', mounts: [tmpfs('/a'), tmpfs('/b')] }))
    const mountPointers = [['/roles/0/mounts/0', '/roles/0/mountStrings/0']]
    expect(admit(spec, docker({ mountVia: [] }), { mountPointers })).toMatchObject({
      faults: [{ pointer: '/roles/0/mounts/0' }, { pointer: '/roles/0/mountStrings/0' }],
    })
  })

  test('and told which limits are enforced', () => {
    const spec = aJob(aRole({ resources: { ...noLimits, gpus: 1 } }))
    expect(admit(spec, local({ limits: ['cpus', 'pids'] }))).toMatchObject({
      faults: [{ detail: '"local" cannot enforce gpus: leave it out; it enforces cpus, pids' }],
    })
  })

  test('and told which other schedulers could take it as it is', () => {
    const spec = aJob(aRole({ image: 'busybox', mounts: [volume] }))
    const others = [local(), docker(), docker({ mountVia: [] }), { ...docker(), name: 'docker-2' }]
    expect(admit(spec, local(), { others })).toEqual({
      ok: false,
      faults: [
        {
          pointer: '/roles/0/image',
          code: 'image_unsupported',
          detail: '"local" has no images: leave it out; as it is, the job could go to "docker" or "docker-2"',
        },
      ],
      alternatives: ['docker', 'docker-2'],
    })
  })
})

describe('a scheduler whose mounts are links', () => {
  const linked = local({ mountPaths: 'linked' })
  const mountsOf = (...mounts: Mount[]): JobSpec => aJob(aRole({ mounts }))

  test('takes writable mounts below the directory of links', () => {
    expect(faultsOf(mountsOf({ ...volume, path: '/mnt/berth/data', access: 'rw' }), linked)).toEqual([])
  })

  test('refuses every other path, and read-only mounts, instead of ignoring them', () => {
    const elsewhere = ['/data', '/mnt/berth', '/mnt/berthed'].map((path): Mount => ({ ...volume, path, access: 'rw' }))
    expect(faultsOf(mountsOf(...elsewhere), linked)).toEqual([0, 1, 2].map((index) => `/roles/0/mounts/${index} mount_path_unsupported`))
    expect(faultsOf(mountsOf({ ...volume, path: '/mnt/berth/data' }), linked)).toEqual(['/roles/0/mounts/0 read_only_unsupported'])
  })
})

describe('admission of any job on any scheduler', () => {
  const path = fc.constantFrom('/a', '/b', '/mnt/berth/a', '/srv/x')
  const access = fc.constantFrom('ro' as const, 'rw' as const)
  const mount: fc.Arbitrary<Mount> = fc.oneof(
    fc.record({ type: fc.constant('volume' as const), source: fc.constant('foo2'), path, access }),
    fc.record({ type: fc.constant('bind' as const), source: fc.constantFrom('/srv/x', '/etc', '/srv/fixed', '/'), path, access }),
    fc.record({
      type: fc.constant('device' as const),
      source: fc.constantFrom('/dev/fuse', '/dev/sda'),
      path,
      permissions: fc.constant('r'),
    }),
    fc.record({ type: fc.constant('tmpfs' as const), path, access, sizeMiB: fc.constant(null) }),
  )
  const role: fc.Arbitrary<RoleSpec> = fc
    .record({
      name: fc.uuid(),
      image: fc.constantFrom(null, 'busybox'),
      entrypoint: fc.constantFrom(null, ['sh']),
      user: fc.constantFrom(null, '1'),
      replicas: fc.integer({ min: 1, max: 60 }),
      mounts: fc.array(mount, { maxLength: 4 }),
      gpus: fc.constantFrom(null, 1),
    })
    .map(({ gpus, ...fields }) => aRole({ ...fields, resources: { ...noLimits, gpus } }))
  const can: fc.Arbitrary<Capabilities> = fc.record({
    mountVia: fc.subarray([...capabilities().mountVia]),
    stages: fc.constant([]),
    maxStageBytes: fc.constant(null),
    driveDirectories: fc.boolean(),
    apiUrl: fc.constantFrom(null, 'http://berth.example:8080'),
    maxMounts: fc.constantFrom(1, 32),
    csiDrivers: fc.constant([]),
    hostMounts: fc.constant([]),
    rcloneRemotes: fc.constantFrom([], [{ source: 's3://', endpoint: null, remote: 'berth' }]),
    bindRoots: fc.subarray([...capabilities().bindRoots]),
    devices: fc.subarray(['/dev/fuse', '/dev/sda']),
    image: fc.constantFrom('required', 'unsupported'),
    entrypoint: fc.boolean(),
    user: fc.boolean(),
    mountPaths: fc.constantFrom('exact', 'linked'),
    limits: fc.subarray([...RESOURCE_LIMITS]),
    replicaHostNames: fc.boolean(),
    maxReplicas: fc.integer({ min: 1, max: 200 }),
  })

  test('resolves every mount or gives a reason, and never both', () => {
    fc.assert(
      fc.property(fc.array(role, { minLength: 1, maxLength: 4 }), can, (roles, its) => {
        const admission = admit(aJob(...roles), docker(its))
        const mounts = roles.flatMap(({ mounts: all }) => all)
        expect(admission.ok ? admission.resolutions.map((resolution) => resolution.mount) : mounts).toEqual(mounts)
        expect(admission.ok || admission.faults.length > 0).toBe(true)
      }),
    )
  })

  test('finds the same in whatever order roles, mounts and capabilities are listed', () => {
    const reasons = (roles: readonly RoleSpec[], its: Capabilities): string[] => {
      const admission = admit(aJob(...roles), docker(its))
      if (admission.ok) return []
      const place = (pointer: string): string =>
        pointer.replace(/^\/roles\/(\d+)(\/mounts\/\d+)?/, (_, index) => roles[Number(index)]?.name ?? '')
      return admission.faults.map(({ pointer, code }) => `${place(pointer)} ${code}`).sort()
    }
    fc.assert(
      fc.property(fc.array(role, { minLength: 1, maxLength: 4 }), can, (roles, its) => {
        const turnedRoles = roles.map((one) => ({ ...one, mounts: [...one.mounts].reverse() })).reverse()
        const turned = {
          ...its,
          bindRoots: [...its.bindRoots].reverse(),
          limits: [...its.limits].reverse(),
          mountVia: [...its.mountVia].reverse(),
        }
        expect(reasons(turnedRoles, turned)).toEqual(reasons(roles, its))
      }),
    )
  })
})
