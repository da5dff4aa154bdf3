import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobEvent } from '../../src/domain/job-view.ts'
import { Installation } from '../support/installation.ts'
import { requirePlaces, shellJob } from '../support/places.ts'

const need = requirePlaces()
const CLIENTS = 200
const AT_ONCE = 50

interface StreamedEvent {
  readonly id: number
  readonly data: JobEvent
}

describe.skipIf(need.missing)('an event stream', () => {
  let berth: Installation

  beforeAll(async () => {
    berth = await Installation.create()
    await berth.start()
  })
  afterAll(() => berth.dispose())

  const open = (id: string, signal: AbortSignal, lastId?: number): Promise<Response> =>
    berth.client.open(`/v1/jobs/${id}/events`, {
      headers: { accept: 'text/event-stream', ...(lastId !== undefined && { 'last-event-id': String(lastId) }) },
      signal,
    })

  /** What Berth itself counts. */
  const gauges = async (...names: string[]): Promise<number[]> => {
    const text = String((await berth.client.request('GET', '/metrics')).body)
    return names.map((name) => Number(new RegExp(`^${name}(?:{[^}]*})? (\\S+)$`, 'm').exec(text)?.[1]))
  }

  it('that its client leaves half-way leaves nothing behind, however often', { timeout: 60_000 }, async () => {
    const { id } = await berth.client.submit(shellJob(berth, 'local', 'sleep 300', { graceSeconds: 0 }))
    await berth.client.until(id, ({ state }) => state === 'running')
    const leave = async (): Promise<void> => {
      const headers = { accept: 'text/event-stream', authorization: `Bearer ${berth.apiKey}` }
      const request = get(`${berth.processes.at(-1)?.address}/v1/jobs/${id}/events`, { agent: false, headers })
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      await once(response, 'data')
      request.destroy()
    }
    const round = async (): Promise<void> => void (await Promise.all(Array.from({ length: AT_ONCE }, leave)))
    const NAMES = ['berth_http_streams', 'nodejs_active_handles_total', 'process_open_fds', 'berth_db_connections']
    await round()
    await expect.poll(() => gauges('berth_http_streams')).toEqual([0])
    await sleep(500)
    const [, handles = 0, files = 0, connections = 0] = await gauges(...NAMES)
    for (let left = 0; left < CLIENTS; left += AT_ONCE) await round()
    await expect.poll(() => gauges('berth_http_streams')).toEqual([0])
    // What a closing socket still holds goes within moments.
    await expect.poll(async () => ((await gauges(...NAMES))[1] ?? Infinity) - handles, { timeout: 10_000 }).toBeLessThan(10)
    const [, , filesAfter = 0, connectionsAfter = 0] = await gauges(...NAMES)
    expect(filesAfter - files).toBeLessThan(10)
    expect(connectionsAfter).toBeLessThanOrEqual(Math.max(10, connections))
    // It still serves who stays.
    const stays = open(id, AbortSignal.timeout(20_000)).then((response) => response.text())
    await berth.client.cancel(id)
    expect(await stays).toContain('job.canceled')
  })

  it('that is cut after every single event and resumed is without a gap and without a double (case 36)', { timeout: 60_000 }, async () => {
    const { id } = await berth.client.submit(shellJob(berth, 'local', 'sleep 1; exit 1', { retries: { max: 2, backoffSeconds: 0 } }))
    const seen: StreamedEvent[] = []
    for (;;) {
      const cut = new AbortController()
      const response = await open(id, cut.signal, seen.at(-1)?.id ?? 0)
      if (response.status === 204) break
      seen.push(await firstEvent(response))
      cut.abort()
    }
    const events = await berth.client.events(id)
    expect(seen.map(({ data }) => data)).toEqual(events)
    expect(seen.map((event) => event.id)).toEqual(events.map(({ sequence }) => sequence))
    expect(events.filter(({ type }) => type === 'job.queued')).toHaveLength(3)
  })

  it('ends by itself after the last event, and another client sees the same', async () => {
    const { id } = await berth.client.submit(shellJob(berth, 'local', 'sleep 1'))
    const [first, second] = await Promise.all(
      [open(id, AbortSignal.timeout(20_000)), open(id, AbortSignal.timeout(20_000))].map(async (each) => (await each).text()),
    )
    expect(first).toContain('job.succeeded')
    expect(second).toBe(first)
  })

  it('survives a Berth that is killed: another goes on where it was', async () => {
    const { id } = await berth.client.submit(shellJob(berth, 'local', 'sleep 3'))
    const response = await open(id, AbortSignal.timeout(20_000))
    const first = await firstEvent(response)
    await berth.processes.at(-1)?.kill()
    await berth.start()
    const rest = await (await open(id, AbortSignal.timeout(30_000), first.id)).text()
    const ids = [...rest.matchAll(/^id: (\d+)$/gm)].map(([, number]) => Number(number))
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, at) => first.id + 1 + at))
    expect(rest).toContain('job.succeeded')
  })
})

async function firstEvent(response: Response): Promise<StreamedEvent> {
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString()
    const found = /^id: (\d+)\ndata: (.*)\n\n/m.exec(text)
    if (found) return { id: Number(found[1]), data: JSON.parse(found[2] ?? '') as JobEvent }
  }
  throw new Error(`the stream ended without an event: ${text}`)
}
