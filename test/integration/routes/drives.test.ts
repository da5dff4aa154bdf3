import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { drive as driveSchema, drivePage } from '../../../src/routes/schemas/drive.ts'
import { requirePostgres } from '../../support/requirements.ts'
import { aJob, createTestApi, problemOf, shaped, type TestApi } from './test-api.ts'

describe.skipIf(requirePostgres().missing)('drives', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await createTestApi()
  })
  afterAll(() => api.stop())

  const create = (body: object) => api.call('POST', '/v1/drives', { body })
  const credentials = { method: 'none' }

  it.each([
    [{ kind: 'managed' }, { ownership: 'flat', maxBytes: null, access: 'rw', credentials: null, usage: { bytes: 0, objects: 0 } }],
    [
      { kind: 's3', bucket: 'my.bucket', prefix: 'a/', credentials },
      { prefix: 'a/', pathStyle: false, access: 'ro', usage: null, credentials },
    ],
    [{ kind: 's3', bucket: 'abc', endpoint: 'http://127.0.0.1:7070', credentials }, { pathStyle: true }],
    [
      { kind: 'gcs', bucket: 'abc', credentials: { method: 'ambient' } },
      { prefix: '', endpoint: null },
    ],
    [{ kind: 'azure_blob', account: 'account1', container: 'data', credentials }, { account: 'account1' }],
    [{ kind: 'nfs', server: 'files.example.org', export: '/export' }, { access: 'rw' }],
    [
      { kind: 'efs', fileSystemId: 'fs-0123456789abcdef0' },
      { rootDirectory: '/', accessPointId: null },
    ],
    [{ kind: 's3files', fileSystemArn: 'arn:aws:s3files:eu-west-1:123456789012:file-system/fs-01' }, { rootDirectory: '/' }],
    [{ kind: 'fsx_lustre', fileSystemId: 'fs-0123456789abcdef0', dnsName: 'fs.example.org', mountName: 'fsx' }, { mountName: 'fsx' }],
    [{ kind: 'volume' }, { bindings: { docker: null, kubernetes: null, aws_batch: null } }],
    [{ kind: 'pvc', claimName: 'claim' }, { claimName: 'claim' }],
    [{ kind: 'docker_volume', volume: 'foo2' }, { volume: 'foo2' }],
    [{ kind: 'host_path', hostPath: '/srv/x' }, { hostPath: '/srv/x' }],
    [
      { kind: 'http', files: [{ url: 'https://example.org/a.csv', sha256: 'A'.repeat(64) }] },
      { files: [{ path: 'a.csv', sha256: 'a'.repeat(64) }], access: 'ro' },
    ],
    [
      { kind: 'scratch', sizeMiB: 10 },
      { medium: 'disk', sizeMiB: 10 },
    ],
  ])('of %j are registered with every default filled in', async (body, expected) => {
    const name = `d-${JSON.stringify(body).length}-${Math.floor(Math.random() * 1e9)}`
    const made = await create({ name, ...body })
    expect(made.statusCode, made.body).toBe(201)
    expect(made.headers).toMatchObject({ etag: `"${name}-1"`, location: `/v1/drives/${name}` })
    expect(shaped(made, driveSchema)).toMatchObject({ name, version: 1, kind: body.kind, ...expected })
    expect((await api.call('GET', `/v1/drives/${name}`)).json()).toEqual(made.json())
  })

  it.each([
    ['s3://bucket/prefix/', { kind: 's3', bucket: 'bucket', prefix: 'prefix/' }],
    ['gs://bucket/', { kind: 'gcs', bucket: 'bucket', prefix: '' }],
    ['gcs://bucket/p/', { kind: 'gcs', prefix: 'p/' }],
    ['az://account1/data/p/', { kind: 'azure_blob', container: 'data', prefix: 'p/' }],
    ['nfs://files.example.org/export/x', { kind: 'nfs', export: '/export/x' }],
    [`https://example.org/x/data.csv#sha256=${'b'.repeat(64)}`, { kind: 'http', files: [{ path: 'data.csv' }] }],
  ])('by the short form %s are stored as if their fields had been given', async (source, expected) => {
    const name = `u-${Math.floor(Math.random() * 1e9)}`
    const isBucket = /^(s3|gs|gcs|az):/.test(source)
    const made = await create({ name, source, ...(isBucket && { credentials }) })
    expect(made.statusCode, made.body).toBe(201)
    expect(made.json()).toMatchObject(expected)
  })

  it('by lit:// are managed drives of that very name', async () => {
    expect((await create({ name: 'lit1', source: 'lit://lit1' })).json()).toMatchObject({ kind: 'managed' })
    expect(problemOf(await create({ name: 'lit2', source: 'lit://other' })).errors).toMatchObject([
      { pointer: '/source', code: 'name_differs' },
    ])
  })

  it.each([
    ['case 1: no scheme', { source: 'bucket/prefix/' }, '/source', 'unknown_scheme'],
    ['case 1: a typo in the scheme', { source: '3://bucket/' }, '/source', 'unknown_scheme'],
    ['case 2: a name with a slash', { name: 'a/b', kind: 'managed' }, '/name', 'bad_format'],
    ['case 3: the name ..', { name: '..', kind: 'managed' }, '/name', 'bad_format'],
    ['case 3: a name of 64 characters', { name: 'x'.repeat(64), kind: 'managed' }, '/name', 'bad_format'],
    ['case 4: a scheme in the name', { source: 'lit://lit://x' }, '/source', 'bad_drive_name'],
    ['case 6: an object instead of a directory', { source: 's3://bucket/key', credentials }, '/source', 'requires_prefix'],
    ['case 7: no bucket', { source: 's3://' }, '/source', 'bucket_missing'],
    ['case 7: no bucket, with a slash', { source: 's3:///' }, '/source', 'bucket_missing'],
    ['a bucket without credentials', { kind: 's3', bucket: 'abc' }, '/credentials', 'missing_field'],
    ['fields of another kind', { kind: 'nfs', server: 'a', export: '/x', bucket: 'abc' }, '/bucket', 'unknown_field'],
    ['an unknown kind', { kind: 'floppy' }, '/kind', 'unknown_value'],
    ['a password in an endpoint', { kind: 's3', bucket: 'abc', endpoint: 'https://me:secret@h/', credentials }, '/endpoint', 'bad_url'],
    ['a climbing prefix', { kind: 's3', bucket: 'abc', prefix: '../x/', credentials }, '/prefix', 'dot_in_path'],
  ])('are refused for %s, at its place', async (_, body, pointer, code) => {
    const problem = problemOf(await create({ name: 'refused', ...body }))
    expect([problem.status, problem.errors[0]?.pointer, problem.errors[0]?.code]).toEqual([422, pointer, code])
    expect(JSON.stringify(problem)).not.toContain('secret@')
  })

  it('case 9: cannot be made twice under one name', async () => {
    await create({ name: 'once', kind: 'managed' })
    expect(problemOf(await create({ name: 'once', kind: 'managed' }))).toMatchObject({ status: 409, code: 'already_exists' })
  })

  it('are changed from the version that was read, but never in kind', async () => {
    await create({ name: 'change', kind: 'managed' })
    const put = (body: object, tag: string) => api.call('PUT', '/v1/drives/change', { body, headers: { 'if-match': tag } })
    const changed = await put({ kind: 'managed', maxBytes: 100, labels: { team: 'vision' } }, '"change-1"')
    expect(shaped(changed, driveSchema)).toMatchObject({ version: 2, maxBytes: 100, labels: { team: 'vision' } })
    expect(problemOf(await put({ kind: 'managed' }, '"change-1"')).status).toBe(412)
    expect(problemOf(await put({ kind: 'scratch' }, '"change-2"')).errors).toMatchObject([{ pointer: '/kind', code: 'kind_fixed' }])
    expect((await api.call('PUT', '/v1/drives/change', { body: { kind: 'managed' } })).statusCode).toBe(428)
  })

  it('are listed by name, page by page, of a kind and with a label', async () => {
    for (const name of ['list-a', 'list-b', 'list-c']) await create({ name, kind: 'scratch', labels: { list: 'yes' } })
    const first = shaped(await api.call('GET', '/v1/drives?label=list%3Dyes&limit=2'), drivePage)
    expect(first.items.map(({ name }) => name)).toEqual(['list-a', 'list-b'])
    const second = shaped(await api.call('GET', `/v1/drives?label=list%3Dyes&limit=2&cursor=${first.nextCursor}`), drivePage)
    expect([second.items.map(({ name }) => name), second.nextCursor]).toEqual([['list-c'], null])
    expect(shaped(await api.call('GET', '/v1/drives?label=list%3Dyes&kind=managed'), drivePage).items).toEqual([])
  })

  it('case 53: cannot be deleted while a live job uses them, and say which', async () => {
    await create({ name: 'used', kind: 'managed' })
    const job = await api.call('POST', '/v1/jobs', {
      body: aJob({ roles: [{ command: ['true'], mounts: [{ type: 'drive', drive: 'used' }] }] }),
    })
    expect(job.statusCode, job.body).toBe(202)
    const problem = problemOf(await api.call('DELETE', '/v1/drives/used', { headers: { 'if-match': '*' } }))
    expect(problem).toMatchObject({
      status: 409,
      code: 'drive_in_use',
      detail: expect.stringContaining((job.json() as { id: string }).id) as string,
    })
  })

  it('that hold objects are deleted only with them', async () => {
    await create({ name: 'full', kind: 'managed' })
    await api.app.inject({
      method: 'PUT',
      url: '/v1/drives/full/objects/x',
      payload: 'x',
      headers: { authorization: 'Bearer test-key-0123456789' },
    })
    const remove = (query: string) => api.call('DELETE', `/v1/drives/full${query}`, { headers: { 'if-match': '*' } })
    expect(problemOf(await remove('')).code).toBe('drive_not_empty')
    expect((await remove('?objects=delete')).statusCode).toBe(204)
    expect((await api.call('GET', '/v1/drives/full')).statusCode).toBe(404)
  })

  it('are kept by a job as they were', async () => {
    const made = await create({ name: 'kept', kind: 'volume', volume: 'first' })
    const job = await api.call('POST', '/v1/jobs', {
      body: aJob({ roles: [{ command: ['true'], mounts: [{ type: 'drive', drive: 'kept', access: 'rw' }] }] }),
    })
    await api.call('PUT', '/v1/drives/kept', { body: { kind: 'volume', volume: 'second' }, headers: { 'if-match': '*' } })
    const view = (await api.call('GET', `/v1/jobs/${(job.json() as { id: string }).id}`)).json() as { attempts: { mounts: object[] }[] }
    expect(view.attempts[0]?.mounts).toMatchObject([
      {
        plan: { via: 'named_volume', volume: 'first' },
        drive: { id: (made.json() as { id: string }).id, version: 1, source: { volume: 'first' } },
      },
    ])
  })

  it('that are not there are told with the one that was meant', async () => {
    await create({ name: 'datasets', kind: 'managed' })
    const problem = problemOf(
      await api.call('POST', '/v1/jobs', { body: aJob({ roles: [{ command: ['true'], mounts: [{ type: 'drive', drive: 'dataset' }] }] }) }),
    )
    expect(problem.errors).toMatchObject([
      { pointer: '/roles/0/mounts/0', code: 'unknown_drive', detail: expect.stringContaining('"datasets"') as string },
    ])
  })

  it('show what they can be on each scheduler', async () => {
    await create({ name: 'matrix', kind: 's3', bucket: 'abc', credentials })
    const { schedulers } = (await api.call('GET', '/v1/drives/matrix/compatibility')).json() as {
      schedulers: { name: string; modes: { mode: string; access: string; via: string | null; reasons: string[] }[] }[]
    }
    expect(schedulers.map(({ name }) => name)).toEqual(['fake'])
    const cells = schedulers[0]?.modes ?? []
    expect(cells).toHaveLength(21)
    expect(cells.find(({ mode, access }) => mode === 'auto' && access === 'ro')).toMatchObject({ via: 'staged', reasons: [] })
    expect(cells.find(({ mode, access }) => mode === 'auto' && access === 'rw')?.reasons).toEqual(['the drive "matrix" allows ro, not rw'])
  })
})
