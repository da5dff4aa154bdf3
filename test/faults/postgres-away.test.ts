import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NetConnectOpts } from 'node:net'
import { Installation } from '../support/installation.ts'
import { requirePlaces, shellJob, PLACES } from '../support/places.ts'
import { startProxy, type Proxy } from '../support/proxy.ts'
import { requirePostgres } from '../support/requirements.ts'

const need = requirePlaces()
const AWAY_MS = 5_000

describe.skipIf(need.missing)('Postgres', () => {
  let berth: Installation
  let postgres: Proxy

  beforeAll(async () => {
    postgres = await startProxy(addressOf(requirePostgres().url), {})
    berth = await Installation.create({ dockerHost: need.host, databaseUrl: (url) => through(url, postgres.port) })
    await Promise.all([berth.start({ serve: 'api' }), berth.start({ serve: 'worker' }), berth.start({ serve: 'worker' })])
  })
  afterAll(async () => {
    await postgres.open()
    await berth.dispose()
    await postgres.close()
  })

  /** Asks every 100 ms; each answer with how long it took. */
  const ask = async (stop: AbortSignal): Promise<{ status: number; retryAfter: string | null; at: number; ms: number }[]> => {
    const answers = []
    for (; !stop.aborted; await sleep(100)) {
      const at = performance.now()
      const { status, headers } = await berth.client.request('GET', '/v1/jobs?limit=1')
      answers.push({ status, retryAfter: headers.get('retry-after'), at, ms: performance.now() - at })
    }
    return answers
  }

  it('gone for 5 s is told within 2 s, and gets over; jobs end rightly and no process ends', async () => {
    const jobs = await Promise.all(
      PLACES.flatMap((place) =>
        ['sleep 3; echo done', 'sleep 3; exit 3'].map((script) => berth.client.submit(shellJob(berth, place, script))),
      ),
    )
    for (const { id } of jobs) await berth.client.until(id, ({ state }) => state === 'running')
    await postgres.shut()
    const stop = new AbortController()
    const gone = performance.now()
    const asking = ask(stop.signal)
    const submission = await berth.client.request('POST', '/v1/jobs', { body: shellJob(berth, 'local', 'true') })
    expect(submission).toMatchObject({ status: 503, body: { code: 'unavailable', retryable: true } })
    const told = performance.now() - gone
    await sleep(AWAY_MS - told)
    await postgres.open()
    const back = performance.now()
    const ended = await Promise.all(jobs.map(({ id }) => berth.client.ended(id)))
    stop.abort()
    const answers = await asking
    const refused = answers.filter(({ status }) => status !== 200)
    const recovered = (answers.find(({ status, at }) => status === 200 && at > gone + AWAY_MS - 500)?.at ?? Infinity) - back
    console.log(
      `Postgres gone: told in ${Math.round(Math.max(...refused.map(({ ms }) => ms)))} ms at most, ` +
        `served again ${Math.round(recovered)} ms after its return`,
    )
    expect(refused.length).toBeGreaterThan(0)
    for (const { status, retryAfter, ms } of refused)
      expect({ status, retryAfter, late: ms > 2_200 }).toEqual({ status: 503, retryAfter: expect.stringMatching(/^\d+$/), late: false })
    expect(recovered).toBeLessThan(10_000)
    expect(ended.map(({ state, reason }) => `${state} ${reason}`)).toEqual(
      PLACES.flatMap(() => ['succeeded null', 'failed executor_error']),
    )
    for (const { id } of jobs) {
      await berth.client.events(id)
      expect(await berth.starts(id)).toEqual(['1/main/0'])
    }
    await berth.untilClean()
    expect(berth.processes.every((each) => each.alive())).toBe(true)
  })

  it('that says nothing more, without ending a connection, holds no request and no job for ever', async () => {
    const jobs = await Promise.all(PLACES.map((place) => berth.client.submit(shellJob(berth, place, 'sleep 3; echo done'))))
    for (const { id } of jobs) await berth.client.until(id, ({ state }) => state === 'running')
    postgres.hush()
    const asked = performance.now()
    const requests = [
      berth.client.request('GET', '/v1/jobs?limit=1'),
      berth.client.request('POST', '/v1/jobs', { body: shellJob(berth, 'local', 'true') }),
    ]
    for (const answer of await Promise.all(requests)) expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    console.log(`silence of Postgres told within ${Math.round(performance.now() - asked)} ms`)
    expect(performance.now() - asked).toBeLessThan(15_000)
    await postgres.open()
    for (const { id } of jobs) {
      expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded' })
      expect(await berth.starts(id)).toEqual(['1/main/0'])
    }
    await berth.untilClean()
    expect(berth.processes.every((each) => each.alive())).toBe(true)
  })

  it('that ends all connections at once, again and again, stops no job', async () => {
    const jobs = await Promise.all(PLACES.map((place) => berth.client.submit(shellJob(berth, place, 'sleep 2; echo done'))))
    for (let round = 0; round < 10; round += 1) {
      await sleep(300)
      await berth.database.pool
        .query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND application_name LIKE 'berth%' AND pid <> pg_backend_pid()`,
        )
        .catch(() => undefined)
    }
    for (const { id } of jobs) {
      expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded' })
      expect(await berth.starts(id)).toEqual(['1/main/0'])
    }
    await berth.untilClean()
    expect(berth.processes.every((each) => each.alive())).toBe(true)
  })
})

/** Where a server listens: a `host` parameter is the folder of its Unix socket. */
function addressOf(url: string): NetConnectOpts {
  const { hostname, port, searchParams } = new URL(url)
  const folder = searchParams.get('host')
  return folder === null ? { host: hostname, port: Number(port || 5432) } : { path: `${folder}/.s.PGSQL.5432` }
}

function through(url: string, port: number): string {
  const changed = new URL(url)
  changed.searchParams.delete('host')
  changed.hostname = '127.0.0.1'
  changed.port = String(port)
  return changed.href
}
