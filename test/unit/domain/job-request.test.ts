import { describe, expect, test } from 'vitest'
import type { Fault } from '../../../src/domain/fault.ts'
import type { JobBody } from '../../../src/domain/job-body.ts'
import { jobOfDefinition, parseJobBody, parseJobRequest } from '../../../src/domain/job-request.ts'

const faultsOf = (body: unknown): readonly Fault[] => {
  const read = parseJobRequest(body)
  return read.ok ? [] : read.faults
}
const summary = (body: unknown): string[] => faultsOf(body).map(({ pointer, code }) => `${pointer} ${code}`)
const role = (fields: object): object => ({ scheduler: 'local', roles: [{ command: ['true'], ...fields }] })
const mounted = (...mounts: unknown[]): object => role({ mounts })

const full = {
  name: 'train',
  scheduler: 'docker',
  labels: { team: 'vision' },
  timeoutSeconds: 3600,
  graceSeconds: 5,
  retries: { max: 2, backoffSeconds: 1 },
  onReplicaFailure: 'wait',
  roles: [
    {
      name: 'trainer',
      image: 'busybox',
      entrypoint: ['sh', '-c'],
      command: ['ls /data'],
      replicas: 2,
      env: { A: 'b' },
      resources: { cpus: 1, memoryMiB: 512, shmMiB: 64, gpus: 0, pids: 100 },
      workingDir: '/work',
      user: '1000:1000',
      mountStrings: ['type=volume,src=foo2,dst=/tmp'],
      mounts: [{ type: 'bind', source: '/srv/x', path: '/x', access: 'ro' }],
    },
  ],
}

describe('a submission', () => {
  test('of a whole job comes out as it went in', () => {
    expect(parseJobRequest(full)).toEqual({ ok: true, value: full })
  })

  test('needs a scheduler, one role and its command', () => {
    const least = { scheduler: 'local', roles: [{ command: ['true'] }] }
    expect(parseJobRequest(least)).toEqual({ ok: true, value: least })
    expect(summary({})).toEqual(['/scheduler missing_field', '/roles missing_field'])
    expect(summary({ scheduler: 'local', roles: [] })).toEqual(['/roles too_few'])
    expect(summary({ scheduler: 'local', roles: [{}] })).toEqual(['/roles/0/command missing_field'])
  })

  test('with a definition names one, and is judged as that', () => {
    const submission = { definition: 'train', version: 3, labels: { team: 'vision' } }
    expect(parseJobRequest(submission)).toEqual({ ok: true, value: submission })
    expect(parseJobRequest({ definition: 'train' })).toMatchObject({ ok: true })
    expect(faultsOf({ definition: 'train', vesion: 3 })).toEqual([
      { pointer: '/vesion', code: 'unknown_field', detail: 'there is no field "vesion" here; did you mean "version"?' },
    ])
    expect(summary({ definition: 3, roles: [] })).toEqual(['/definition wrong_type', '/roles unknown_field'])
  })

  test.each([[null], [undefined], [3], ['job'], [[full]], [true]])('that is no object is refused: %j', (body) => {
    expect(faultsOf(body)).toMatchObject([{ pointer: '', code: body === undefined ? 'missing_field' : 'wrong_type' }])
  })

  test('may give null wherever a stored job shows null', () => {
    const none = { image: null, entrypoint: null, workingDir: null, user: null, resources: { cpus: null, memoryMiB: null, gpus: null } }
    expect(summary({ ...role(none), timeoutSeconds: null })).toEqual([])
  })

  test('has all its faults told at once, also those between fields', () => {
    const body = {
      nme: 'x',
      timeoutSeconds: '1h',
      roles: [
        { comand: ['a'], replicas: 0, env: { '1A': 'x', A: 3 } },
        { command: ['a'], mountStrings: ['type=volume,src=foo2,dst=tmp'] },
        { command: ['a'], mounts: [{ type: 'tmpfs', path: '/a' }], mountStrings: ['type=tmpfs,dst=/a'] },
      ],
    }
    expect(summary(body).sort()).toEqual([
      '/nme unknown_field',
      '/roles/0/comand unknown_field',
      '/roles/0/command missing_field',
      '/roles/0/env/1A bad_variable_name',
      '/roles/0/env/A wrong_type',
      '/roles/0/replicas out_of_range',
      '/roles/1/mountStrings/0 relative_path',
      '/roles/2/mountStrings/0 duplicate_path',
      '/scheduler missing_field',
      '/timeoutSeconds wrong_type',
    ])
  })

  test('with an unknown field hears which was meant, or which there are', () => {
    expect(faultsOf(role({ cmd: [] }))[0]?.detail).toBe('there is no field "cmd" here; did you mean "command"?')
    expect(faultsOf(role({ resources: { zzz: 1 } }))[0]?.detail).toBe(
      'there is no field "zzz" here; known are cpus, memoryMiB, shmMiB, gpus, pids',
    )
  })

  test('hears of a wrong type in plain words', () => {
    expect(faultsOf({ ...full, roles: {} })).toEqual([{ pointer: '/roles', code: 'wrong_type', detail: 'must be a list, not an object' }])
    expect(faultsOf(role({ command: 'true' }))[0]?.detail).toBe('must be a list, not text')
    expect(faultsOf(role({ replicas: 1.5 }))[0]?.detail).toBe('must be a whole number, not a number with a fraction')
    expect(faultsOf(role({ replicas: '2' }))[0]?.detail).toBe('must be a whole number, not text')
    expect(faultsOf({ ...full, onReplicaFailure: 'ignore' })[0]?.detail).toBe('must be "cancel_others" or "wait", not "ignore"')
    expect(faultsOf({ scheduler: 'local' })[0]?.detail).toBe('is missing: it must be a list')
  })

  test('never has a fault without a detail of its own', () => {
    const bodies = [
      {},
      role({ replicas: null, env: [], mounts: {}, user: 3 }),
      { ...full, labels: { a: 1 }, retries: 3 },
      mounted({}, 1, null),
    ]
    for (const { detail } of bodies.flatMap(faultsOf)) expect(detail).not.toMatch(/^$|Invalid|expected|undefined/)
  })

  test('has pointers that escape what JSON pointers need escaped', () => {
    expect(summary(role({ 'a/b~c': 1 }))).toEqual(['/roles/0/a~1b~0c unknown_field'])
  })
})

describe('limits', () => {
  test.each([
    ['name', '', '/name bad_format'],
    ['name', 'a'.repeat(64), '/name bad_format'],
    ['name', 'a b', '/name bad_format'],
    ['name', '-a', '/name bad_format'],
    ['timeoutSeconds', 0, '/timeoutSeconds out_of_range'],
    ['timeoutSeconds', 1e9, '/timeoutSeconds out_of_range'],
    ['graceSeconds', -1, '/graceSeconds out_of_range'],
    ['retries', { max: 101 }, '/retries/max out_of_range'],
    ['retries', { backoffSeconds: 601 }, '/retries/backoffSeconds out_of_range'],
    ['labels', { 'a b': 'x' }, '/labels/a b bad_format'],
    ['labels', { a: 'x'.repeat(256) }, '/labels/a too_long'],
    ['labels', Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`l${index}`, ''])), '/labels too_many'],
    ['roles', Array.from({ length: 21 }, (_, index) => ({ name: `r${index}`, command: ['a'] })), '/roles too_many'],
  ])('of a job refuse %s %j', (field, value, fault) => {
    expect(summary({ ...full, [field]: value })).toEqual([fault])
  })

  test.each([
    ['command', [], '/command too_few'],
    ['command', [''], '/command empty_command'],
    ['command', ['a', 'x'.repeat(128 * 1024)], '/command too_large'],
    ['command', ['a', '${job_id}'.repeat(10_000)], '/command too_large'],
    ['entrypoint', [], '/entrypoint too_few'],
    ['replicas', 1001, '/replicas out_of_range'],
    ['image', '', '/image bad_format'],
    ['image', 'busy box', '/image bad_format'],
    ['image', '--privileged', '/image bad_format'],
    ['user', 'a b', '/user bad_format'],
    ['user', '1000:', '/user bad_format'],
    ['workingDir', 'work', '/workingDir relative_path'],
    ['env', { 'A-B': 'x' }, '/env/A-B bad_variable_name'],
    ['env', { '': 'x' }, '/env/ bad_variable_name'],
    ['env', { BERTH_JOB_ID: 'x' }, '/env/BERTH_JOB_ID reserved_name'],
    ['env', { A: 'x'.repeat(64 * 1024) }, '/env too_large'],
    ['env', { A: 'ä'.repeat(33 * 1024) }, '/env too_large'],
    ['env', Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`V${index}`, ''])), '/env too_many'],
    ['resources', { cpus: 0 }, '/resources/cpus out_of_range'],
    ['resources', { memoryMiB: 1 }, '/resources/memoryMiB out_of_range'],
    ['resources', { memoryMiB: 64.5 }, '/resources/memoryMiB wrong_type'],
    ['resources', { gpus: -1 }, '/resources/gpus out_of_range'],
    ['mountStrings', [''], '/mountStrings/0 empty_mount_string'],
  ])('of a role refuse %s', (field, value, fault) => {
    expect(summary(role({ [field]: value }))).toEqual([`/roles/0${fault}`])
  })

  test.each([
    ['image', 'ghcr.io/me/train:1.2'],
    ['image', `localhost:5000/a@sha256:${'0'.repeat(64)}`],
    ['user', 'nobody'],
    ['env', { _a9: '' }],
    ['resources', { cpus: 0.5, memoryMiB: 6, gpus: 0 }],
    ['command', ['a', 'x'.repeat(128 * 1024 - 3)]],
    ['mounts', [{ type: 'device', source: '/dev/fuse' }]],
  ])('of a role allow %s', (field, value) => {
    expect(summary(role({ [field]: value }))).toEqual([])
  })

  test('count mounts of both forms together', () => {
    const mounts = Array.from({ length: 200 }, (_, index) => ({ type: 'tmpfs', path: `/a${index}` }))
    const mountStrings = Array.from({ length: 57 }, (_, index) => `type=tmpfs,dst=/b${index}`)
    expect(summary({ ...(role({ mounts, mountStrings }) as object), nme: 1 })).toEqual(['/roles/0 too_many', '/nme unknown_field'])
  })
})

describe('mounts', () => {
  test.each([
    [{ type: 'Volume' }, ['/type unknown_value']],
    [{ source: 'foo2' }, ['/type missing_field']],
    [{ type: 'volume', source: 'foo2' }, ['/path missing_field']],
    [{ type: 'volume', source: 'a/b', path: '/x' }, ['/source bad_volume_name']],
    [{ type: 'volume', source: 'foo2', path: 'x' }, ['/path relative_path']],
    [{ type: 'volume', source: 'foo2', path: '/x', access: 'readonly' }, ['/access unknown_value']],
    [{ type: 'volume', source: 'foo2', path: '/x', readOnly: true }, ['/readOnly unknown_field']],
    [{ type: 'bind', source: '~/x', path: '/proc' }, ['/source home_path', '/path reserved_path']],
    [{ type: 'device', source: '/dev/fuse', permissions: 'rr' }, ['/permissions bad_permissions']],
    [{ type: 'tmpfs', path: '/x', sizeMiB: 0 }, ['/sizeMiB out_of_range']],
    ['type=tmpfs,dst=/x', [' wrong_type']],
  ])('%j is refused', (mount, faults) => {
    expect(summary(mounted(mount))).toEqual(faults.map((fault) => `/roles/0/mounts/0${fault}`))
  })

  test('in one string in the wrong field are shown the right one', () => {
    expect(faultsOf(mounted('type=tmpfs,dst=/x'))[0]?.detail).toBe('must be an object; mounts in one string go into mountStrings')
  })

  test('with a field of another tool are shown ours', () => {
    expect(faultsOf(mounted({ type: 'tmpfs', target: '/x', path: '/x' }))[0]?.detail).toContain('did you mean "path"?')
    expect(faultsOf(mounted({ type: 'tmpfs', path: '/x', readOnly: true }))[0]?.detail).toContain('did you mean "access"?')
  })
})

describe('hostile content', () => {
  test.each([
    ['{"scheduler":"local","roles":[{"command":["a\\u0000b"]}]}', '/roles/0/command/0 unsafe_text'],
    ['{"scheduler":"local","roles":[{"command":["\\ud800"]}]}', '/roles/0/command/0 unsafe_text'],
    ['{"scheduler":"local","roles":[{"command":["a"],"env":{"__proto__":"x"}}]}', '/roles/0/env/__proto__ unsafe_name'],
    ['{"scheduler":"local","labels":{"__proto__":"x"},"roles":[{"command":["a"]}]}', '/labels/__proto__ unsafe_name'],
    ['{"__proto__":{"a":1},"scheduler":"local","roles":[{"command":["a"]}]}', '/__proto__ unsafe_name'],
  ])('%s is refused', (body, fault) => {
    expect(summary(JSON.parse(body))).toEqual([fault])
    expect(Object.prototype).not.toHaveProperty('a')
  })

  test('of whole emoji is fine, and names of methods are plain names', () => {
    expect(summary(role({ command: ['😀'], env: { constructor: 'x', toString: 'y' } }))).toEqual([])
    expect(summary({ ...full, labels: { constructor: 'x' } })).toEqual([])
    expect(summary({ ...full, constructor: 1, toString: 2 })).toEqual(['/constructor unknown_field', '/toString unknown_field'])
  })

  test('that is nested without end is refused and not followed', () => {
    let deep: unknown = 'x'
    for (let level = 0; level < 50_000; level++) deep = [deep]
    expect(faultsOf({ ...full, labels: deep }).map(({ code }) => code)).toEqual(['too_deep', 'wrong_type'])
  })
})

describe('a job definition', () => {
  const definition = full as unknown as JobBody

  test('holds a whole job and no reference', () => {
    expect(parseJobBody(full).ok).toBe(true)
    expect(parseJobBody({ definition: 'train' }).ok).toBe(false)
  })

  test('lends its name to the job unless there is a better one', () => {
    const nameless = { ...definition, name: undefined }
    expect(jobOfDefinition(nameless, { definition: 'nightly' }).name).toBe('nightly')
    expect(jobOfDefinition(definition, { definition: 'nightly' }).name).toBe('train')
    expect(jobOfDefinition(definition, { definition: 'nightly', name: 'mine' }).name).toBe('mine')
  })

  test('has its labels added to, and won over, by those of the submission', () => {
    const labels = { team: 'audio', run: '1' }
    expect(jobOfDefinition(definition, { definition: 'train', labels }).labels).toEqual({ team: 'audio', run: '1' })
    expect(jobOfDefinition(definition, { definition: 'train' }).labels).toEqual({ team: 'vision' })
  })
})
