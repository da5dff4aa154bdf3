import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { definitionPage, definitionVersion, jobDefinition, versionPage } from '../../../src/routes/schemas/job-definition.ts'
import { job as jobSchema } from '../../../src/routes/schemas/job.ts'
import { requirePostgres } from '../../support/requirements.ts'
import { aJob, createTestApi, problemOf, shaped, type TestApi } from './test-api.ts'

describe.skipIf(requirePostgres().missing)('job definitions', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await createTestApi()
  })
  afterAll(() => api.stop())

  const create = (name: string, job: object = aJob()) => api.call('POST', '/v1/job-definitions', { body: { name, job } })
  const replace = (name: string, ifMatch: string | undefined, job: object = aJob()) =>
    api.call('PUT', `/v1/job-definitions/${name}`, { body: { job }, headers: ifMatch === undefined ? {} : { 'if-match': ifMatch } })
  const retire = (name: string, ifMatch = '*') => api.call('DELETE', `/v1/job-definitions/${name}`, { headers: { 'if-match': ifMatch } })
  const read = (name: string, headers: Record<string, string> = {}) => api.call('GET', `/v1/job-definitions/${name}`, { headers })

  it('are made with version 1 and a strong tag, once for each name', async () => {
    const made = await create('once')
    expect(made.statusCode).toBe(201)
    expect(made.headers).toMatchObject({ etag: '"once-1"', location: '/v1/job-definitions/once' })
    expect(shaped(made, jobDefinition)).toMatchObject({ name: 'once', version: 1, retiredAt: null, job: aJob() })
    expect(problemOf(await create('once'))).toMatchObject({ status: 409, code: 'already_exists' })
  })

  it('are refused with every fault of the body, where it stands', async () => {
    const problem = problemOf(
      await api.call('POST', '/v1/job-definitions', { body: { name: 'no/slash', job: { roles: [{ comand: [] }] }, x: 1 } }),
    )
    expect(problem.code).toBe('invalid_request')
    expect(problem.errors.map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining(['/name', '/job/scheduler', '/job/roles/0/comand', '/x']),
    )
  })

  it('whose job is refused point at the definition, and say where in it', async () => {
    await create('elsewhere', aJob({ scheduler: 'nowhere' }))
    const problem = problemOf(await api.call('POST', '/v1/jobs', { body: { definition: 'elsewhere' } }))
    expect(problem.errors).toEqual([
      expect.objectContaining({
        pointer: '/definition',
        code: 'unknown_scheduler',
        detail: expect.stringContaining('at /scheduler') as string,
      }),
    ])
  })

  it('get a next version by PUT, and keep those before as they were', async () => {
    await create('train', aJob({ timeoutSeconds: 1 }))
    const second = await replace('train', '"train-1"', aJob({ timeoutSeconds: 2 }))
    expect([second.statusCode, second.headers['etag']]).toEqual([200, '"train-2"'])
    expect(shaped(await api.call('GET', '/v1/job-definitions/train/versions/1'), definitionVersion).job.timeoutSeconds).toBe(1)
    const { items } = shaped(await api.call('GET', '/v1/job-definitions/train/versions'), versionPage)
    expect(items.map(({ version, job }) => [version, job.timeoutSeconds])).toEqual([
      [2, 2],
      [1, 1],
    ])
    const none = problemOf(await api.call('GET', '/v1/job-definitions/train/versions/3'))
    expect(none).toMatchObject({ status: 404, detail: expect.stringContaining('1 to 2') as string })
  })

  it('cannot be changed without saying which version is meant, or from one that is not the newest', async () => {
    await create('guarded')
    expect(problemOf(await replace('guarded', undefined))).toMatchObject({ status: 428, code: 'precondition_required' })
    expect(problemOf(await replace('guarded', '"guarded-0"'))).toMatchObject({ status: 412, code: 'precondition_failed' })
    expect(problemOf(await replace('guarded', 'W/"guarded-1"')).status).toBe(412)
    expect((await api.call('DELETE', '/v1/job-definitions/guarded')).statusCode).toBe(428)
    expect((await replace('guarded', '*')).statusCode).toBe(200)
  })

  it('are changed by one of many that change the same version at once', async () => {
    await create('raced')
    const answers = await Promise.all(Array.from({ length: 10 }, () => replace('raced', '"raced-1"')))
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
    expect(answers.filter(({ statusCode }) => statusCode === 412)).toHaveLength(9)
    expect(shaped(await read('raced'), jobDefinition).version).toBe(2)
  })

  it('are not sent again to who has them', async () => {
    await create('cached')
    const again = await read('cached', { 'if-none-match': '"cached-1"' })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    expect((await read('cached', { 'if-none-match': '"cached-0"' })).statusCode).toBe(200)
  })

  it('are submitted by name, with the newest version or the one that is named', async () => {
    await create('runs', aJob({ labels: { a: '1', b: '1' } }))
    await replace('runs', '*', aJob({ labels: { a: '2', b: '2' } }))
    const submit = (body: object) => api.call('POST', '/v1/jobs', { body })
    const newest = shaped(await submit({ definition: 'runs' }), jobSchema)
    expect(newest).toMatchObject({ definition: { name: 'runs', version: 2 }, labels: { a: '2', b: '2' } })
    const first = shaped(await submit({ definition: 'runs', version: 1, labels: { b: 'mine' } }), jobSchema)
    expect(first).toMatchObject({ definition: { name: 'runs', version: 1 }, labels: { a: '1', b: 'mine' } })
    expect(problemOf(await submit({ definition: 'runs', version: 9 })).status).toBe(404)
    expect(problemOf(await submit({ definition: 'none' })).status).toBe(404)
    expect(problemOf(await submit({ definition: 'runs', roles: [] })).errors).toMatchObject([{ pointer: '/roles', code: 'unknown_field' }])
  })

  it('are retired: readable, but neither listed nor submitted, until a new version brings them back', async () => {
    await create('old')
    expect((await retire('old', '"old-1"')).statusCode).toBe(204)
    const retired = await read('old')
    expect(shaped(retired, jobDefinition).retiredAt).not.toBeNull()
    expect(retired.headers['etag']).not.toBe('"old-1"')
    expect(problemOf(await api.call('POST', '/v1/jobs', { body: { definition: 'old' } }))).toMatchObject({
      status: 410,
      code: 'definition_retired',
    })
    expect(shaped(await api.call('GET', '/v1/job-definitions?limit=200'), definitionPage).items.map(({ name }) => name)).not.toContain(
      'old',
    )
    expect((await create('old')).statusCode).toBe(409)
    expect((await retire('old')).statusCode).toBe(204)
    const back = shaped(await replace('old', retired.headers['etag']), jobDefinition)
    expect(back).toMatchObject({ version: 2, retiredAt: null })
    expect((await api.call('POST', '/v1/jobs', { body: { definition: 'old' } })).statusCode).toBe(202)
  })

  it('are listed by name, page by page', async () => {
    for (const name of ['page-c', 'page-a', 'page-b']) await create(name)
    const names: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: { items: { name: string }[]; nextCursor: string | null } = shaped(
        await api.call('GET', `/v1/job-definitions?limit=2${cursor && `&cursor=${cursor}`}`),
        definitionPage,
      )
      names.push(...page.items.map(({ name }) => name))
      cursor = page.nextCursor
    }
    expect(names.filter((name) => name.startsWith('page-'))).toEqual(['page-a', 'page-b', 'page-c'])
    expect(new Set(names).size).toBe(names.length)
  })
})
