import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobPage, jobPreview, job as jobSchema } from '../../../src/routes/schemas/job.ts'
import { schedulerList } from '../../../src/routes/schemas/scheduler.ts'
import { requirePostgres } from '../../support/requirements.ts'
import { aJob, createTestApi, problemOf, shaped, type TestApi } from './test-api.ts'

describe.skipIf(requirePostgres().missing)('jobs', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await createTestApi()
  })
  afterAll(() => api.stop())

  const submit = async (more: object = {}, headers: Record<string, string> = {}) => {
    const response = await api.call('POST', '/v1/jobs', { body: aJob(more), headers })
    expect(response.statusCode).toBe(202)
    return { response, job: shaped(response, jobSchema) }
  }

  it('are accepted at once, and live where Location says', async () => {
    const { response, job } = await submit({ labels: { team: 'vision' } })
    expect(response.headers['location']).toBe(`/v1/jobs/${job.id}`)
    expect(job).toMatchObject({ name: 'train', state: 'queued', labels: { team: 'vision' }, attempts: [{ number: 1 }] })
    const read = await api.call('GET', `/v1/jobs/${job.id}`)
    expect(shaped(read, jobSchema).id).toBe(job.id)
  })

  it('may have labels and variables that are called like parts of objects', async () => {
    const { job } = await submit({ labels: { constructor: 'a', toString: 'b' }, roles: [{ command: ['true'], env: { constructor: 'c' } }] })
    const read = shaped(await api.call('GET', `/v1/jobs/${job.id}`), jobSchema)
    expect(new Map(Object.entries(read.labels))).toEqual(new Map(Object.entries({ constructor: 'a', toString: 'b' })))
    const { items } = shaped(await api.call('GET', '/v1/jobs?label=constructor=a'), jobPage)
    expect(items.map(({ id }) => id)).toEqual([job.id])
  })

  it('can be seen before they are submitted, and nothing is stored by it', async () => {
    const count = async () => (await api.berth.database.pool.query('SELECT count(*)::int AS n FROM job')).rows[0].n as number
    const before = await count()
    const preview = shaped(await api.call('POST', '/v1/jobs/preview', { body: aJob({ name: 'seen' }) }), jobPreview)
    expect(preview.spec.name).toBe('seen')
    expect(preview.native).toMatchObject({ jobName: 'seen' })
    expect(await count()).toBe(before)
  })

  it('are one job for the same key and body, however many ask at once', async () => {
    const key = { 'idempotency-key': '"same-key"' }
    const answers = await Promise.all(Array.from({ length: 50 }, () => submit({ name: 'once' }, key)))
    expect(new Set(answers.map(({ job }) => job.id)).size).toBe(1)
    const fresh = answers.filter(({ response }) => response.headers['idempotency-replayed'] === undefined)
    expect(fresh).toHaveLength(1)
    const again = await api.call('POST', '/v1/jobs', {
      body: { roles: [{ command: ['true'] }], scheduler: 'fake', name: 'once' },
      headers: key,
    })
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(again.json()).toEqual(answers[0]?.job)
    const { items } = shaped(await api.call('GET', '/v1/jobs?name=once'), jobPage)
    expect(items).toHaveLength(1)
  })

  it('are refused for a known key with another body, and for a key that is none', async () => {
    await submit({}, { 'idempotency-key': 'k1' })
    const other = await api.call('POST', '/v1/jobs', { body: aJob({ name: 'other' }), headers: { 'idempotency-key': 'k1' } })
    expect(problemOf(other)).toMatchObject({ status: 422, code: 'idempotency_key_reused' })
    const bad = await api.call('POST', '/v1/jobs', { body: aJob(), headers: { 'idempotency-key': 'two words' } })
    expect(problemOf(bad)).toMatchObject({ status: 400, code: 'malformed_request' })
  })

  it('are refused with every reason when the scheduler is none, and keep the key free for the right one', async () => {
    const headers = { 'idempotency-key': 'k2' }
    const problem = problemOf(await api.call('POST', '/v1/jobs', { body: aJob({ scheduler: 'nowhere' }), headers }))
    expect(problem.errors).toMatchObject([{ pointer: '/scheduler', code: 'unknown_scheduler' }])
    expect((await api.call('POST', '/v1/jobs', { body: aJob(), headers })).statusCode).toBe(202)
  })

  it('are listed page by page, the newest first, with each exactly once while others come', async () => {
    const made: string[] = []
    for (let n = 0; n < 7; n += 1) made.unshift((await submit({ name: 'paged' })).job.id)
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: { items: { id: string }[]; nextCursor: string | null } = shaped(
        await api.call('GET', `/v1/jobs?name=paged&limit=3${cursor && `&cursor=${cursor}`}`),
        jobPage,
      )
      seen.push(...page.items.map(({ id }) => id))
      cursor = page.nextCursor
      await submit({ name: 'paged' })
    }
    expect(seen).toEqual(made)
  })

  it('are found by state, scheduler and all labels together', async () => {
    const { job } = await submit({ labels: { team: 'a', stage: 'x' } })
    await submit({ labels: { team: 'a', stage: 'y' } })
    const idsOf = async (query: string) => shaped(await api.call('GET', `/v1/jobs?${query}`), jobPage).items.map(({ id }) => id)
    expect(await idsOf('label=team=a&label=stage=x')).toEqual([job.id])
    expect(await idsOf('label=team=a')).toHaveLength(2)
    expect(await idsOf('state=queued,running&state=failed&scheduler=fake&label=stage=x')).toEqual([job.id])
    expect(await idsOf('state=succeeded&label=stage=x')).toEqual([])
    expect(await idsOf('scheduler=other')).toEqual([])
    expect(await idsOf('limit=100000&label=stage=x')).toEqual([job.id])
  })

  it('take a cursor with the filters that it came from only', async () => {
    for (let n = 0; n < 2; n += 1) await submit({ name: 'two' })
    const { nextCursor } = shaped(await api.call('GET', '/v1/jobs?name=two&limit=1'), jobPage)
    expect((await api.call('GET', `/v1/jobs?name=other&limit=1&cursor=${nextCursor}`)).statusCode).toBe(400)
  })

  it('that have ended are done again as new jobs that point to them', async () => {
    const first = shaped(await api.call('POST', '/v1/jobs', { body: aJob({ labels: { a: 'b' }, queueTimeoutSeconds: 60 }) }), jobSchema)
    const tooEarly = problemOf(await api.call('POST', `/v1/jobs/${first.id}/retry`))
    expect(tooEarly).toMatchObject({ code: 'wrong_state', status: 409 })
    await api.berth.database.pool.query(`UPDATE job SET state = 'failed', ended_at = now() WHERE id = $1`, [first.id])
    const headers = { 'idempotency-key': 'again' }
    const answer = await api.call('POST', `/v1/jobs/${first.id}/retry`, { headers })
    const again = shaped(answer, jobSchema)
    expect([answer.statusCode, answer.headers['location']]).toEqual([202, `/v1/jobs/${again.id}`])
    expect(again).toMatchObject({ retryOf: first.id, state: 'queued', spec: first.spec })
    const repeated = await api.call('POST', `/v1/jobs/${first.id}/retry`, { headers })
    expect([repeated.headers['idempotency-replayed'], repeated.json()]).toEqual(['true', again])
    expect(shaped(await api.call('GET', `/v1/jobs/${again.id}`), jobSchema)).toMatchObject({ retryOf: first.id })
  })

  it('are canceled by asking, twice is fine', async () => {
    const { job } = await submit()
    const first = await api.call('POST', `/v1/jobs/${job.id}/cancel`)
    expect([first.statusCode, shaped(first, jobSchema).state]).toEqual([202, 'canceling'])
    const emptyJson = await api.call('POST', `/v1/jobs/${job.id}/cancel`, { headers: { 'content-type': 'application/json' } })
    expect(emptyJson.statusCode).toBe(202)
  })

  it('cannot be canceled when they have ended', async () => {
    const { job } = await submit()
    await api.berth.database.pool.query(`UPDATE attempt SET state = 'succeeded', ended_at = now() WHERE job_id = $1`, [job.id])
    await api.berth.database.pool.query(`UPDATE job SET state = 'succeeded', ended_at = now() WHERE id = $1`, [job.id])
    const problem = problemOf(await api.call('POST', `/v1/jobs/${job.id}/cancel`))
    expect(problem).toMatchObject({ status: 409, code: 'wrong_state' })
  })

  it('answer a waiting client when the time is over, or when they have ended', async () => {
    const { job } = await submit()
    const start = performance.now()
    const early = shaped(await api.call('GET', `/v1/jobs/${job.id}?wait=1`), jobSchema)
    expect(early.state).toBe('queued')
    expect(performance.now() - start).toBeGreaterThan(900)
    const waiting = api.call('GET', `/v1/jobs/${job.id}?wait=20`)
    await api.berth.database.pool.query(`UPDATE job SET state = 'failed', ended_at = now() WHERE id = $1`, [job.id])
    api.berth.deps.signals.notify(`job:${job.id}`)
    expect(shaped(await waiting, jobSchema).state).toBe('failed')
    expect(performance.now() - start).toBeLessThan(10_000)
  })

  it('run on schedulers that are listed with what they can do and how they are', async () => {
    const before = shaped(await api.call('GET', '/v1/schedulers'), schedulerList)
    expect(before.items).toMatchObject([{ name: 'fake', kind: 'local', health: null }])
    await api.berth.database.pool.query(`INSERT INTO scheduler_health (name, healthy, detail) VALUES ('fake', false, 'away')`)
    const after = shaped(await api.call('GET', '/v1/schedulers'), schedulerList)
    expect(after.items[0]?.health).toMatchObject({ healthy: false, detail: 'away' })
  })
})
