import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AttemptRole, AttemptSpec } from '../../../../src/domain/attempt.ts'
import type { MountPlan } from '../../../../src/domain/mount-plan.ts'
import { renderAttempt } from '../../../../src/schedulers/docker/render.ts'
import { attemptOf } from '../../../golden/docker/attempt-of-case.ts'

const BODY = ['Image', 'Entrypoint', 'Cmd', 'Env', 'WorkingDir', 'User', 'Hostname', 'Labels', 'StopTimeout', 'HostConfig',
  'NetworkingConfig']
const HOST_CONFIG = ['NanoCpus', 'Memory', 'MemorySwap', 'ShmSize', 'PidsLimit', 'DeviceRequests', 'Mounts', 'Devices', 'CapDrop',
  'SecurityOpt', 'Init', 'RestartPolicy', 'AutoRemove', 'LogConfig', 'NetworkMode']
const MOUNT = ['Type', 'Source', 'Target', 'ReadOnly', 'TmpfsOptions']

const text = fc.string({ unit: 'binary' })
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(value)
const cpus = maybe(fc.double({ min: 0.01, max: 1e3, noNaN: true }))
const count = maybe(fc.integer({ min: 1, max: 1e6 }))
const shared = { path: text, readOnly: fc.boolean() }
const mount: fc.Arbitrary<MountPlan> = fc.oneof(
  fc.record({ via: fc.constant('named_volume' as const), volume: text, ...shared }),
  fc.record({ via: fc.constant('host_path' as const), hostPath: text, ...shared }),
  fc.record({ via: fc.constant('device' as const), hostPath: text, path: text, permissions: text }),
  fc.record({ via: fc.constant('tmpfs' as const), sizeMiB: count, ...shared }),
)
const role: fc.Arbitrary<AttemptRole> = fc.record({
  name: fc.string({ minLength: 1 }),
  image: text,
  entrypoint: maybe(fc.array(text)),
  resources: fc.record({ cpus, memoryMiB: count, shmMiB: count, gpus: count, pids: count }),
  workingDir: maybe(text),
  user: maybe(text),
  mounts: fc.array(mount),
  replicas: fc.array(fc.record({ command: fc.array(text), env: fc.dictionary(text, text) }), { minLength: 1, maxLength: 3 })
    .map((replicas) => replicas.map((replica, index) => ({ index, ...replica }))),
})
const anySpec: fc.Arbitrary<AttemptSpec> = fc.array(role, { minLength: 1, maxLength: 3 }).map((roles) => attemptOf({}, { roles }))

describe('a rendered attempt', () => {
  test('has no field but those that we allow, whatever a job says', () => {
    fc.assert(fc.property(anySpec, (spec) => {
      for (const { create } of renderAttempt(spec).containers) {
        expect(BODY).toEqual(expect.arrayContaining(Object.keys(create)))
        expect(HOST_CONFIG).toEqual(expect.arrayContaining(Object.keys(create.HostConfig)))
        for (const each of create.HostConfig.Mounts ?? []) expect(MOUNT).toEqual(expect.arrayContaining(Object.keys(each)))
      }
    }))
  })

  test('is hardened and never restarted or removed by the daemon, whatever a job says', () => {
    const fixed = { CapDrop: ['ALL'], SecurityOpt: ['no-new-privileges'], RestartPolicy: { Name: 'no' }, AutoRemove: false }
    fc.assert(fc.property(anySpec, (spec) => {
      for (const { create: { HostConfig } } of renderAttempt(spec).containers) {
        expect(HostConfig).toMatchObject(fixed)
        expect(HostConfig.PidsLimit).toBeGreaterThan(0)
        expect(HostConfig.MemorySwap).toBe(HostConfig.Memory)
      }
    }))
  })

  test('has every mount exactly once, and a network where replicas have company', () => {
    fc.assert(fc.property(anySpec, (spec) => {
      const { containers, network } = renderAttempt(spec)
      const replicas = spec.roles.flatMap((each) => each.replicas.map(() => each))
      expect(containers).toHaveLength(replicas.length)
      expect(network === null).toBe(replicas.length === 1)
      containers.forEach(({ create: { HostConfig } }, index) => {
        expect((HostConfig.Mounts ?? []).length + (HostConfig.Devices ?? []).length).toBe(replicas[index]?.mounts.length)
        expect(HostConfig.NetworkMode).toBe(network?.Name ?? 'default')
      })
    }))
  })
})
