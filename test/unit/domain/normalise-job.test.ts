import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { JobBody } from '../../../src/domain/job-body.ts'
import { parseJobBody, parseJobRequest } from '../../../src/domain/job-request.ts'
import { normaliseJob } from '../../../src/domain/normalise-job.ts'
import { parseBody } from '../../../src/domain/parse-body.ts'
import { aJob, aRole, noLimits } from './a-job.ts'

const jobOf = (...roles: Partial<JobBody['roles'][number]>[]): JobBody => ({
  scheduler: 'here',
  roles: roles.map((role) => ({ command: ['true'], ...role })),
})

const faultsOf = (body: JobBody) => {
  const job = parseJobBody(body)
  return job.ok ? [] : job.faults
}

const full: JobBody = {
  ...jobOf({
    name: 'trainer',
    image: 'busybox',
    entrypoint: ['sh'],
    replicas: 2,
    env: { A: 'b' },
    resources: { cpus: 1.5, gpus: 0 },
    workingDir: '/work/',
    user: '1:1',
    mountStrings: ['type=volume,src=foo2,dst=/a', 'type=tmpfs,dst=/b,size=1g,type=device,src=/dev/fuse,perm=wr'],
    mounts: [{ type: 'bind', source: '/srv/x/', path: '/x/', access: 'ro' }],
  }),
  name: 'train',
  labels: { team: 'vision' },
  timeoutSeconds: 60,
  graceSeconds: 0,
  retries: { max: 2 },
  onReplicaFailure: 'wait',
}

describe('a normalised job', () => {
  test('has every default filled in', () => {
    expect(normaliseJob(jobOf({}))).toEqual({ ok: true, spec: aJob(aRole()), mountPointers: [[]] })
  })

  test('keeps what was asked for, with mount strings after mounts as objects', () => {
    expect(normaliseJob(full)).toMatchObject({
      spec: {
        name: 'train',
        labels: { team: 'vision' },
        timeoutSeconds: 60,
        graceSeconds: 0,
        retries: { max: 2, backoffSeconds: 10 },
        onReplicaFailure: 'wait',
        roles: [
          {
            name: 'trainer',
            entrypoint: ['sh'],
            replicas: 2,
            resources: { ...noLimits, cpus: 1.5 },
            workingDir: '/work',
            mounts: [
              { type: 'bind', source: '/srv/x', path: '/x', access: 'ro' },
              { type: 'volume', source: 'foo2', path: '/a', access: 'rw' },
              { type: 'tmpfs', path: '/b', access: 'rw', sizeMiB: 1024 },
              { type: 'device', source: '/dev/fuse', path: '/dev/fuse', permissions: 'rw' },
            ],
          },
        ],
      },
    })
  })

  test('says of each mount where the client wrote it', () => {
    expect(normaliseJob(full)).toMatchObject({
      mountPointers: [['/roles/0/mounts/0', '/roles/0/mountStrings/0', '/roles/0/mountStrings/1', '/roles/0/mountStrings/1']],
    })
  })

  test('can be submitted again as it is shown, and gives the same', () => {
    const first = normaliseJob(full)
    if (!first.ok) throw new Error('not normalised')
    const again = parseJobRequest(JSON.parse(JSON.stringify(first.spec)))
    if (!again.ok) throw new Error(JSON.stringify(again.faults))
    expect(normaliseJob(again.value as JobBody)).toMatchObject({ ok: true, spec: first.spec })
  })

  test('is the same for a mount in one string and as an object', () => {
    const text = normaliseJob(jobOf({ mountStrings: ['type=volume,src=foo2,dst=/a,readonly'] }))
    const object = normaliseJob(jobOf({ mounts: [{ type: 'volume', source: 'foo2', path: '/a', access: 'ro' }] }))
    expect(text.ok && object.ok && text.spec).toEqual(object.ok && object.spec)
  })
})

describe('a job is refused as a whole', () => {
  test('when several roles are not told apart by name', () => {
    expect(faultsOf(jobOf({ name: 'a' }, { name: 'b' }, { name: 'a' }, {}))).toMatchObject([
      { pointer: '/roles/2/name', code: 'duplicate_name', detail: '"a" is the name of role 0 already: names of roles differ' },
      { pointer: '/roles/3/name', code: 'missing_field' },
    ])
  })

  test('when mounts of a role meet, of whatever form, and never those of different roles', () => {
    const mounts = [{ type: 'tmpfs', path: '/a/' } as const]
    expect(faultsOf(jobOf({ mounts, mountStrings: ['type=tmpfs,dst=/a', 'type=tmpfs,dst=/a/b'] }))).toMatchObject([
      { pointer: '/roles/0/mountStrings/0', code: 'duplicate_path' },
      { pointer: '/roles/0/mountStrings/1', code: 'nested_path' },
    ])
    expect(faultsOf(jobOf({ name: 'a', mounts }, { name: 'b', mounts }))).toEqual([])
  })

  test('when /dev/shm is asked for twice', () => {
    const mounts = [{ type: 'tmpfs', path: '/dev/shm' } as const]
    expect(faultsOf(jobOf({ mounts }))).toEqual([])
    expect(faultsOf(jobOf({ mounts, resources: { shmMiB: 64 } }))).toMatchObject([{ pointer: '/roles/0/mounts/0', code: 'duplicate_path' }])
  })

  test('when a device takes a path from its source that cannot be one', () => {
    expect(faultsOf(jobOf({ mounts: [{ type: 'device', source: '/proc/x' }] }))).toMatchObject([
      { pointer: '/roles/0/mounts/0', code: 'reserved_path' },
    ])
  })

  test('even when something else in it is wrong, and however deep in the body it stands', () => {
    const mounts = [{ type: 'tmpfs', path: '/a' } as const, { type: 'tmpfs', path: '/a' } as const]
    const read = parseBody(z.strictObject({ job: JobBody }), { job: { ...jobOf({ mounts }), scheduler: 3 } })
    expect(read).toMatchObject({
      faults: [
        { pointer: '/job/scheduler', code: 'wrong_type' },
        { pointer: '/job/roles/0/mounts/1', code: 'duplicate_path' },
      ],
    })
  })

  test('when a definition and its submission have too many labels together', () => {
    const labels = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`l${index}`, '']))
    expect(normaliseJob({ ...jobOf({}), labels })).toMatchObject({ faults: [{ pointer: '/labels', code: 'too_many' }] })
  })

  test('when a mount string in it cannot be read that nobody has looked at before', () => {
    expect(normaliseJob(jobOf({ mountStrings: ['type=tmpfs,dst=/a', 'type=foo'] }))).toMatchObject({
      faults: [{ pointer: '/roles/0/mountStrings/1', code: 'unknown_type' }],
    })
  })
})
