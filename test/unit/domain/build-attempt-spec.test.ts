import { describe, expect, test } from 'vitest'
import { admit } from '../../../src/domain/admit.ts'
import { buildAttemptSpec } from '../../../src/domain/build-attempt-spec.ts'
import type { RoleSpec } from '../../../src/domain/job-spec.ts'
import type { Mount } from '../../../src/domain/mount.ts'
import { aJob, aRole, capabilities } from './a-job.ts'

const build = (...roles: RoleSpec[]) => {
  const spec = { ...aJob(...roles), name: 'train', graceSeconds: 7 }
  const admission = admit(spec, { name: 'docker', kind: 'docker', capabilities: capabilities() })
  if (!admission.ok) throw new Error(JSON.stringify(admission.faults))
  const ids = { installation: 'a1b2', project: 'default', jobId: 'job_01', attemptId: 'att_01', attempt: 2, epoch: 3 }
  return buildAttemptSpec({ ...ids, spec, resolutions: admission.resolutions, tokenOf: (place) => `token-${place}` })
}
const image = 'busybox'

describe('an attempt', () => {
  test('carries all that names it', () => {
    expect(build(aRole({ image }))).toMatchObject({
      installation: 'a1b2',
      project: 'default',
      jobId: 'job_01',
      jobName: 'train',
      attemptId: 'att_01',
      attempt: 2,
      epoch: 3,
      graceSeconds: 7,
    })
  })

  test('has every replica of every role, each with its own macros and variables', () => {
    const command = ['echo', '${role}/${replica} of ${job_id}, try ${attempt}', '$HOME', '${HOME}', '$${replica}']
    const { roles } = build(aRole({ name: 'a', image, command, replicas: 2, env: { OUT: '/out/${replica}' } }), aRole({ name: 'b', image }))
    expect(roles.map(({ name, replicas }) => [name, replicas.map(({ index }) => index)])).toEqual([
      ['a', [0, 1]],
      ['b', [0]],
    ])
    expect(roles[0]?.replicas[1]).toEqual({
      index: 1,
      command: ['echo', 'a/1 of job_01, try 2', '$HOME', '${HOME}', '${replica}'],
      env: { OUT: '/out/1', BERTH_JOB_ID: 'job_01', BERTH_ATTEMPT: '2', BERTH_ROLE: 'a', BERTH_REPLICA: '1', BERTH_DRIVES: '[]' },
    })
  })

  test('keeps image, entrypoint, limits, directory and user of the role', () => {
    const role = aRole({ image, entrypoint: ['sh'], workingDir: '/work', user: '1:1', resources: { ...aRole().resources, pids: 9 } })
    const { name, entrypoint, resources, workingDir, user } = role
    expect(build(role).roles[0]).toMatchObject({ name, image, entrypoint, resources, workingDir, user })
  })

  test('gives each role its own mounts as they were resolved, and names those that hold data in BERTH_DRIVES', () => {
    const mounts: Mount[] = [
      { type: 'volume', source: 'foo2', path: '/data', access: 'ro' },
      { type: 'bind', source: '/srv/x', path: '/x', access: 'rw' },
      { type: 'device', source: '/dev/fuse', path: '/dev/fuse', permissions: 'rw' },
      { type: 'tmpfs', path: '/t', access: 'rw', sizeMiB: null },
    ]
    const { roles } = build(aRole({ name: 'a', image, mounts }), aRole({ name: 'b', image }))
    expect(roles[0]?.mounts.map(({ via }) => via)).toEqual(['named_volume', 'host_path', 'device', 'tmpfs'])
    expect(JSON.parse(roles[0]?.replicas[0]?.env['BERTH_DRIVES'] ?? '')).toEqual([
      { name: 'foo2', path: '/data', mode: 'mount', access: 'ro' },
      { name: '/srv/x', path: '/x', mode: 'mount', access: 'rw' },
      { name: null, path: '/t', mode: 'mount', access: 'rw' },
    ])
    expect(roles[1]).toMatchObject({ mounts: [], replicas: [{ env: { BERTH_DRIVES: '[]' } }] })
  })

  test('is the same whenever it is built, and changes nothing that it is built from', () => {
    const role = aRole({ image, env: { A: '${replica}' }, command: ['${role}'] })
    Object.freeze(role.env)
    Object.freeze(role.command)
    expect(build(role)).toEqual(build(role))
  })
})
