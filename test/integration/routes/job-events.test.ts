import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jobEvent, jobEvents } from '../../../src/routes/schemas/job-event.ts'
import { requirePostgres } from '../../support/requirements.ts'
import { collect, openStream, readStream, until } from './event-stream.ts'
import { aJob, createTestApi, problemOf, shaped, type TestApi } from './test-api.ts'

const SSE = { accept: 'text/event-stream' }

describe.skipIf(requirePostgres().missing)('events of a job', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await createTestApi()
    api.berth.startWorker()
  })
  afterAll(() => api.stop())

  const submit = async (env: Record<string, string> = {}): Promise<string> => {
    const { id } = (await api.call('POST', '/v1/jobs', { body: aJob({ roles: [{ command: ['true'], env }] }) })).json<{ id: string }>()
    return id
  }
  const finished = async (env?: Record<string, string>): Promise<string> => {
    const id = await submit(env)
    await api.call('GET', `/v1/jobs/${id}?wait=15`)
    return id
  }

  it('can be read page by page, until the last', async () => {
    const id = await finished()
    const first = shaped(await api.call('GET', `/v1/jobs/${id}/events?limit=2`), jobEvents)
    expect(first.items.map(({ sequence }) => sequence)).toEqual([1, 2])
    expect(first.last).toBe(false)
    const rest = shaped(await api.call('GET', `/v1/jobs/${id}/events?after=2`), jobEvents)
    expect(rest.items[0]?.sequence).toBe(3)
    expect(rest.items.at(-1)).toMatchObject({ type: 'job.succeeded', state: 'succeeded' })
    expect(rest.last).toBe(true)
  })

  it('come as a stream from the first on, live, and end after the final one', async () => {
    const id = await submit({ FAKE_SECONDS: '0.3' })
    const response = await openStream(api.app, `/v1/jobs/${id}/events`, SSE)
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.stringMatching(/^req_/) as string,
    })
    const events = await collect(readStream(response))
    expect(events.map(({ id: number }) => Number(number))).toEqual(events.map((_, at) => at + 1))
    for (const { data } of events) expect(jobEvent.parse(data)).toEqual(data)
    expect(events.at(-1)?.data).toMatchObject({ type: 'job.succeeded' })
  })

  it('go on after Last-Event-ID, which wins over ?after=', async () => {
    const id = await finished()
    const response = await openStream(api.app, `/v1/jobs/${id}/events?after=1`, { ...SSE, 'last-event-id': '2' })
    expect((await collect(readStream(response)))[0]?.id).toBe('3')
    const page = shaped(await api.call('GET', `/v1/jobs/${id}/events?after=2`), jobEvents)
    const after = await openStream(api.app, `/v1/jobs/${id}/events?after=2`, SSE)
    expect((await collect(readStream(after))).map(({ data }) => data)).toEqual(page.items)
  })

  it('answer 204 when nothing is left, so that an EventSource stays away', async () => {
    const id = await finished()
    const { items } = shaped(await api.call('GET', `/v1/jobs/${id}/events`), jobEvents)
    const response = await api.call('GET', `/v1/jobs/${id}/events`, {
      headers: { ...SSE, 'last-event-id': String(items.at(-1)?.sequence) },
    })
    expect([response.statusCode, response.body]).toEqual([204, ''])
  })

  it('are refused for a Last-Event-ID that is none, and for an unknown job', async () => {
    const id = await finished()
    const bad = await api.call('GET', `/v1/jobs/${id}/events`, { headers: { ...SSE, 'last-event-id': 'x' } })
    expect(problemOf(bad)).toMatchObject({ status: 400 })
    const unknown = await api.call('GET', '/v1/jobs/job_01h455vb4pex5vsknk084sn02q/events', { headers: SSE })
    expect(problemOf(unknown)).toMatchObject({ status: 404 })
  })

  it('stop being read when the client goes, and nothing of the stream is left', async () => {
    const id = await submit({ FAKE_SECONDS: '30' })
    const response = await openStream(api.app, `/v1/jobs/${id}/events`, SSE)
    const stream = readStream(response)
    await stream.next()
    expect(api.app.openStreams.size).toBe(1)
    response.destroy()
    await until(() => api.app.openStreams.size === 0)
    await api.call('POST', `/v1/jobs/${id}/cancel`)
  })
})
