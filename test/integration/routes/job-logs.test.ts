import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LogStream } from '../../../src/domain/attempt.ts'
import { appendLog, logSizes } from '../../../src/db/statements/append-log.ts'
import { logLine } from '../../../src/routes/schemas/log-line.ts'
import { requirePostgres } from '../../support/requirements.ts'
import { collect, openStream, readStream, until } from './event-stream.ts'
import { aJob, API_KEY, createTestApi, problemOf, type TestApi } from './test-api.ts'

interface Line {
  readonly replica: number
  readonly stream: string
  readonly cursor: string
  readonly text?: string
  readonly base64?: string
  readonly partial?: boolean
}

const NDJSON = { accept: 'application/x-ndjson' }
const SSE = { accept: 'text/event-stream' }

describe.skipIf(requirePostgres().missing)('output of a job', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await createTestApi()
  })
  afterAll(() => api.stop())

  async function submit(): Promise<{ id: string; attemptId: string }> {
    const { id } = (
      await api.call('POST', '/v1/jobs', { body: aJob({ roles: [{ name: 'main', command: ['true'], replicas: 2 }] }) })
    ).json<{ id: string }>()
    const { rows } = await api.berth.database.pool.query<{ id: string }>('SELECT id FROM attempt WHERE job_id = $1', [id])
    return { id, attemptId: rows[0]?.id ?? '' }
  }

  /** Stores output as a worker does. */
  async function write(attemptId: string, bytes: string | Buffer, { index = 0, stream = 'stdout' as LogStream } = {}): Promise<void> {
    const owner = { attemptId, role: 'main', index }
    const start = (await logSizes(api.berth.database.pool, owner))[stream]
    await appendLog(api.berth.database.pool, owner, [{ stream, start, bytes: Buffer.from(bytes) }])
    api.berth.deps.signals.notify(`log:${attemptId}`)
  }

  async function end(id: string): Promise<void> {
    for (const table of ['attempt', 'job']) {
      const column = table === 'job' ? 'id' : 'job_id'
      await api.berth.database.pool.query(`UPDATE ${table} SET state = 'succeeded', ended_at = now() WHERE ${column} = $1`, [id])
    }
    api.berth.deps.signals.notify(`job:${id}`)
  }

  const linesOf = (body: string): Line[] =>
    body
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const value: unknown = JSON.parse(line)
        expect(logLine.parse(value)).toEqual(value)
        return value as Line
      })

  const textsOf = (lines: readonly Line[]): string[] => lines.map((line) => line.text ?? '').sort((a, b) => (a < b ? -1 : 1))

  it('is empty before the start, under the same address', async () => {
    const { id } = await submit()
    const response = await openStream(api.app, `/v1/jobs/${id}/logs`)
    expect(response.headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(await text(response)).toBe('')
  })

  it('comes byte for byte as text, whatever it is', async () => {
    const { id, attemptId } = await submit()
    const bytes = Buffer.concat([randomBytes(300_000), Buffer.from([0, 0xff, 0x0a, 0xc3])])
    await write(attemptId, bytes)
    expect((await buffer(await openStream(api.app, `/v1/jobs/${id}/logs`))).equals(bytes)).toBe(true)
  })

  it('comes as lines that say where they are from, and as base64 where they are no text', async () => {
    const { id, attemptId } = await submit()
    await write(attemptId, 'grü')
    await write(attemptId, Buffer.concat([Buffer.from('ße\n'), Buffer.from([0xff, 0x0a]), Buffer.from('no newline')]))
    await write(attemptId, 'oops\n', { stream: 'stderr' })
    await write(attemptId, 'other\n', { index: 1 })
    const response = await openStream(api.app, `/v1/jobs/${id}/logs`, NDJSON)
    expect(response.headers['content-type']).toBe('application/x-ndjson')
    const lines = linesOf(await text(response))
    expect(lines.map((line) => [line.replica, line.stream, line.text ?? line.base64, line.partial])).toEqual([
      [0, 'stdout', 'grüße', undefined],
      [0, 'stdout', '/w==', undefined],
      [0, 'stderr', 'oops', undefined],
      [1, 'stdout', 'other', undefined],
      [0, 'stdout', 'no newline', true],
    ])
  })

  it('keeps a character whole that came in two pieces', async () => {
    const { id, attemptId } = await submit()
    const [first, second] = [Buffer.from('🚢\n').subarray(0, 2), Buffer.from('🚢\n').subarray(2)]
    await write(attemptId, first)
    await write(attemptId, second)
    expect(linesOf(await text(await openStream(api.app, `/v1/jobs/${id}/logs`, NDJSON)))).toMatchObject([{ text: '🚢' }])
  })

  it('is narrowed by role, replica, stream, attempt and tail', async () => {
    const { id, attemptId } = await submit()
    await write(attemptId, 'a\nb\nc\n')
    await write(attemptId, 'err\n', { stream: 'stderr' })
    await write(attemptId, 'x\n', { index: 1 })
    const read = async (query: string) => text(await openStream(api.app, `/v1/jobs/${id}/logs?${query}`))
    expect(await read('replica=1')).toBe('x\n')
    expect(await read('stream=stderr')).toBe('err\n')
    expect(await read('role=none')).toBe('')
    expect(await read('attempt=1&replica=0&stream=stdout')).toBe('a\nb\nc\n')
    expect(await read('attempt=2')).toBe('')
    expect(await read('tail=2&replica=0&stream=stdout')).toBe('b\nc\n')
    expect(await read('since=2999-01-01T00:00:00Z')).toBe('')
  })

  it('is followed live, and ends when the job has ended', async () => {
    const { id, attemptId } = await submit()
    const response = await openStream(api.app, `/v1/jobs/${id}/logs?follow=true`)
    let seen = ''
    response.setEncoding('utf8').on('data', (chunk: string) => (seen += chunk))
    await write(attemptId, 'first\n')
    await until(() => seen === 'first\n')
    await write(attemptId, 'second')
    await until(() => seen === 'first\nsecond')
    const ended = new Promise((resolve) => response.once('end', resolve))
    await end(id)
    await ended
    expect(response.complete).toBe(true)
  })

  it('goes on exactly after the line whose cursor or event id is given', async () => {
    const { id, attemptId } = await submit()
    await write(attemptId, 'one\ntwo\nthr')
    await write(attemptId, 'x1\nx2\n', { index: 1 })
    await write(attemptId, 'ee\nfour\n')
    await end(id)
    const all = await collect(readStream(await openStream(api.app, `/v1/jobs/${id}/logs?follow`, SSE)))
    const lines = all.map(({ data }) => data as Line)
    expect(textsOf(lines)).toEqual(['four', 'one', 'three', 'two', 'x1', 'x2'])
    for (const [at, event] of all.entries()) {
      expect(event.id).toBe((event.data as Line).cursor)
      const missing = textsOf(lines.slice(at + 1))
      const byHeader = await collect(
        readStream(await openStream(api.app, `/v1/jobs/${id}/logs`, { ...SSE, 'last-event-id': event.id ?? '' })),
      )
      expect(textsOf(byHeader.map(({ data }) => data as Line))).toEqual(missing)
      const byQuery = linesOf(await text(await openStream(api.app, `/v1/jobs/${id}/logs?cursor=${event.id}`, NDJSON)))
      expect(textsOf(byQuery)).toEqual(missing)
    }
  })

  it('is refused with a problem for a cursor that is none and a media type that cannot be given', async () => {
    const { id } = await submit()
    expect(problemOf(await api.call('GET', `/v1/jobs/${id}/logs?cursor=junk`))).toMatchObject({ status: 400 })
    expect(problemOf(await api.call('GET', `/v1/jobs/${id}/logs`, { headers: { accept: 'image/png' } }))).toMatchObject({ status: 406 })
  })

  it('stops being read when the client goes before anything was said', async () => {
    const { id } = await submit()
    const { signals } = api.berth.deps
    const listen = signals.listen.bind(signals)
    let open = 0
    signals.listen = (topic) => {
      const bell = listen(topic)
      open += 1
      return { next: bell.next.bind(bell), close: () => ((open -= 1), bell.close()) }
    }
    const { port } = api.app.server.address() as AddressInfo
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET /v1/jobs/${id}/logs?follow HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${API_KEY}\r\n\r\n`)
    await until(() => open > 0)
    socket.destroy()
    await until(() => open === 0)
    expect(api.app.openStreams.size).toBe(0)
    signals.listen = listen
  })

  it('stops being read when a following client goes', async () => {
    const { id, attemptId } = await submit()
    await write(attemptId, 'x\n')
    const response = await openStream(api.app, `/v1/jobs/${id}/logs?follow=true`, NDJSON)
    expect(api.app.openStreams.size).toBe(1)
    response.destroy()
    await until(() => api.app.openStreams.size === 0)
  })
})
