import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { AttemptSpec } from '../../../src/domain/attempt.ts'
import type { Isolation } from '../../../src/schedulers/local/local-place.ts'
import { render } from '../../../src/schedulers/local/render.ts'
import { attemptOf } from '../docker/attempt-of-case.ts'

interface Case {
  readonly spec: AttemptSpec
  readonly isolation?: Isolation
}

const replica = (index: number, command: readonly string[]) => ({ index, command, env: { BERTH_REPLICA: String(index) } })
const local = { image: null } as const

/** One file for each case, beside this one: what a local scheduler under /data/local is asked. */
const CASES: Readonly<Record<string, Case>> = {
  'one-replica': { spec: attemptOf(local) },
  'L5-mounts-are-made': {
    spec: attemptOf({
      ...local,
      mounts: [
        { via: 'named_volume', volume: 'foo2', path: '/tmp', readOnly: false },
        { via: 'host_path', hostPath: '/srv/x', path: '/x', readOnly: true },
        { via: 'tmpfs', path: '/fast', sizeMiB: 64, readOnly: false },
      ],
    }),
  },
  'mounts-as-links': {
    isolation: 'links',
    spec: attemptOf({
      ...local,
      mounts: [
        { via: 'named_volume', volume: 'foo2', path: '/mnt/berth/data', readOnly: false },
        { via: 'host_path', hostPath: '/srv/x', path: '/mnt/berth/x', readOnly: false },
      ],
    }),
  },
  'roles-and-replicas': {
    spec: attemptOf({}, {
      epoch: 7,
      roles: [
        { ...attemptOf(local).roles[0]!, replicas: [replica(0, ['a']), replica(1, ['b'])] },
        { ...attemptOf(local).roles[0]!, name: 'Other_Role', replicas: [replica(0, ['c'])] },
      ],
    }),
  },
  'user-workdir-entrypoint-limits': {
    spec: attemptOf({
      ...local,
      entrypoint: ['sh', '-c'],
      user: '1000:1000',
      workingDir: '/work',
      resources: { cpus: 0.5, memoryMiB: 256, shmMiB: 64, gpus: null, pids: 100 },
      replicas: [{ index: 0, command: ['echo $HOME'], env: { HOME: '/mine', 'ODD.name': 'x' } }],
    }),
  },
}

test.each(Object.entries(CASES))('renders %s', async (name, { spec, isolation = 'bubblewrap' }) => {
  const frozen = deepFreeze(structuredClone(spec))
  const native = render(frozen, { root: '/data/local', isolation, driveRoot: '/data/drives' })
  expect(render(frozen, { root: '/data/local', isolation, driveRoot: '/data/drives' })).toEqual(native)
  expect(JSON.parse(JSON.stringify(native))).toEqual(native)
  await expect(`${JSON.stringify(native, null, 2)}\n`).toMatchFileSnapshot(join(import.meta.dirname, `${name}.json`))
})

test('asks the same of every epoch, so that all of them meet at the same folder', () => {
  const place = { root: '/data/local', isolation: 'bubblewrap', driveRoot: '/data/drives' } as const
  expect(render(attemptOf(local, { epoch: 9 }), place)).toEqual(render(attemptOf(local), place))
})

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(Object.freeze(value))) deepFreeze(inner)
  return value
}
