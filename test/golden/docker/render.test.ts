import { expect, test } from 'vitest'
import type { AttemptRole, AttemptSpec } from '../../../src/domain/attempt.ts'
import type { MountPlan } from '../../../src/domain/mount-plan.ts'
import { renderAttempt } from '../../../src/schedulers/docker/render.ts'
import { attemptOf, NO_LIMITS } from './attempt-of-case.ts'

const mounts = (...plans: MountPlan[]): AttemptSpec => attemptOf({ mounts: plans })
const tmp = { via: 'host_path', hostPath: '/tmp', path: '/tmp' } as const
const device = { via: 'device', hostPath: '/dev/null', path: '/dev/null' } as const
const replica = (index: number, command: readonly string[] = ['true']): AttemptRole['replicas'][number] =>
  ({ index, command, env: { BERTH_REPLICA: String(index) } })

/** D-numbers are those of the conformance cases that TorchX's tests leave for Docker. */
const CASES: Readonly<Record<string, AttemptSpec>> = {
  'D1-bind-read-only': mounts({ ...tmp, readOnly: true }),
  'D2-bind-read-write': mounts({ ...tmp, readOnly: false }),
  'D3-volume-read-only': mounts({ via: 'named_volume', volume: 'name', path: '/tmp', readOnly: true }),
  'D4-volume-read-write': mounts({ via: 'named_volume', volume: 'foo2', path: '/tmp', readOnly: false }),
  'D6-device-read': mounts({ ...device, permissions: 'r' }),
  'D7-bind-and-device': mounts({ ...tmp, readOnly: true }, { ...device, permissions: 'rwm' }),
  'D11-resources': attemptOf({ resources: { cpus: 2, memoryMiB: 3000, shmMiB: 3000, gpus: 4, pids: null } }),
  'D12-no-resources': attemptOf({ resources: NO_LIMITS }),
  'D13-retries-are-not-dockers': attemptOf({}, { attempt: 3, epoch: 5 }),
  'D18-long-names': attemptOf({ name: 'r'.repeat(110) }),
  'fractions-and-pids': attemptOf({ resources: { ...NO_LIMITS, cpus: 0.1, pids: 10 } }),
  'tmpfs': mounts(
    { via: 'tmpfs', path: '/fast', sizeMiB: 64, readOnly: false },
    { via: 'tmpfs', path: '/any', sizeMiB: null, readOnly: true },
  ),
  'user-workdir-entrypoint': attemptOf({
    user: '1000:1000',
    workingDir: '/work',
    entrypoint: ['sh', '-c'],
    replicas: [{ index: 0, command: ['echo "$B$A"'], env: { B: '2=2', A: '', Z: 'a\nb' } }],
  }),
  'replicas-share-a-network': attemptOf({ replicas: [replica(0), replica(1, ['echo', 'second'])] }),
  'roles-share-a-network': attemptOf({}, {
    roles: [...attemptOf({ name: 'Param_Server' }).roles, ...attemptOf({ image: 'reg.example:5000/a/b@sha256:00' }).roles],
  }),
}

test.each(Object.entries(CASES))('%s renders to its golden file', async (name, spec) => {
  const before = structuredClone(spec)
  const request = renderAttempt(deepFreeze(spec))
  expect(renderAttempt(before)).toEqual(request)
  expect(JSON.parse(JSON.stringify(request))).toEqual(request)
  await expect(`${JSON.stringify(request, null, 2)}\n`).toMatchFileSnapshot(`./${name}.json`)
})

test('the name is all that a later claim changes', () => {
  const [first, later] = [1, 12].map((epoch) => renderAttempt(attemptOf({}, { epoch })))
  expect(later?.containers[0]?.create).toEqual(first?.containers[0]?.create)
  expect(later?.containers[0]?.name).not.toBe(first?.containers[0]?.name)
})

test('the order in which variables were stored changes nothing', () => {
  const withEnv = (env: Record<string, string>): AttemptSpec => attemptOf({ replicas: [{ index: 0, command: [], env }] })
  expect(renderAttempt(withEnv({ B: '2', A: '1' }))).toEqual(renderAttempt(withEnv({ A: '1', B: '2' })))
})

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze)
  return value
}
