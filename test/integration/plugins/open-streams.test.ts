import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import Fastify from 'fastify'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openStreams } from '../../../src/plugins/open-streams.ts'
import { pump } from '../../../src/plugins/pump.ts'
import { sendEvents, SSE_HEADERS, type ServerSentEvent } from '../../../src/plugins/server-sent-events.ts'
import { until } from '../routes/event-stream.ts'

const CHUNK = Buffer.alloc(64 * 1024, 'x')

describe('open streams', () => {
  let app: FastifyInstance | undefined
  afterEach(async () => {
    vi.useRealTimers()
    await app?.close()
  })

  /** An app whose one address streams what `source` gives. */
  async function serve(source: () => AsyncIterator<Uint8Array>): Promise<FastifyInstance> {
    app = Fastify({ forceCloseConnections: true })
    await app.register(openStreams)
    app.get('/', async (_request, reply) => {
      const writer = app?.openStreams.open(reply, { 'content-type': 'text/plain' })
      if (writer && (await pump(source(), writer.signal, (chunk) => writer.write(chunk)))) writer.end()
      else writer?.cut()
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    return app
  }

  async function serveEvents(source: () => AsyncIterator<readonly ServerSentEvent[]>): Promise<FastifyInstance> {
    app = Fastify({ forceCloseConnections: true })
    await app.register(openStreams)
    app.get('/', async (_request, reply) => {
      if (app) await sendEvents(app.openStreams.open(reply, SSE_HEADERS), source(), () => ({ code: 'internal_error' }))
    })
    await app.listen({ host: '127.0.0.1', port: 0 })
    return app
  }

  const get = (from: FastifyInstance): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      request({ host: '127.0.0.1', port: (from.server.address() as AddressInfo).port }, resolve)
        .on('error', reject)
        .end()
    })

  it('wait for a client that does not read, and let the source go when it leaves', async () => {
    const given = { chunks: 0, released: false }
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          given.chunks += 1
          yield CHUNK
        }
      } finally {
        given.released = true
      }
    }
    const response = await get(await serve(endless))
    await delay(500)
    const before = given.chunks
    expect(before * CHUNK.length).toBeLessThan(32 * 1024 * 1024)
    await delay(200)
    expect(given.chunks).toBe(before)
    response.destroy()
    await until(() => given.released)
    expect(app?.openStreams.size).toBe(0)
  })

  it('are cut at shutdown, at once, even when the source does not look at the signal', async () => {
    const response = await get(
      await serve(async function* () {
        yield Buffer.from('first')
        await new Promise(() => undefined)
      }),
    )
    const start = performance.now()
    const cut = new Promise((resolve) => response.once('aborted', resolve).resume())
    response.on('error', () => undefined)
    await app?.close()
    await cut
    expect(performance.now() - start).toBeLessThan(2_000)
    expect(response.complete).toBe(false)
  })

  it('keep a quiet connection alive with comments, and tell when to come back', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    let release = (): void => undefined
    const response = await get(
      await serveEvents(async function* () {
        await new Promise<void>((resolve) => (release = resolve))
        yield [{ id: 1, data: 'late' }]
      }),
    )
    let seen = ''
    response.setEncoding('utf8').on('data', (chunk: string) => (seen += chunk))
    await until(() => seen === 'retry: 2000\n\n')
    vi.advanceTimersByTime(15_000)
    await until(() => seen === 'retry: 2000\n\n: \n\n')
    release()
    await until(() => seen.endsWith('\n\n') && seen.includes('late'))
    expect(seen).toBe('retry: 2000\n\n: \n\nid: 1\ndata: "late"\n\n')
  })

  it('say in a last event that they broke', async () => {
    const response = await get(
      await serveEvents(async function* () {
        yield [{ id: 1, data: 'fine' }]
        throw new Error('secret words')
      }),
    )
    expect(await text(response)).toBe('retry: 2000\n\nid: 1\ndata: "fine"\n\nevent: problem\ndata: {"code":"internal_error"}\n\n')
  })

  it('end by themselves after half an hour, so that clients prove that they can resume', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const response = await get(
      await serveEvents(async function* () {
        yield []
        await new Promise(() => undefined)
      }),
    )
    const ended = new Promise((resolve) => response.resume().once('end', resolve))
    vi.advanceTimersByTime(29 * 60_000)
    expect(app?.openStreams.size).toBe(1)
    vi.advanceTimersByTime(60_000)
    await ended
    expect(response.complete).toBe(true)
  })
})
