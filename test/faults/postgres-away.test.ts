import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NetConnectOpts } from 'node:net'
import { eventually } from '../support/eventually.ts'
import { Installation } from '../support/installation.ts'
import { requirePlaces, shellJob, PLACES, type Place } from '../support/places.ts'
import { expectRanOnce } from '../support/ran-once.ts'
import { startProxy, type Proxy } from '../support/proxy.ts'
import { requirePostgres } from '../support/requirements.ts'

const need = requirePlaces()
/** Names of the prepared statements that change something in a job's life. */
const STATEMENTS = [...['submit_job_once', 'take_due', 'claim', 'release', 'transition', 'record_replicas', 'append_log', 'take_lease']]
const AWAY_MS = 5_000
/** The limits of a lock and of a wait for a connection, 3 s each, and what a busy machine takes. */
const HELD_UP_MS = 9_000
/** A beat, the wait for its answer, and what a busy machine takes. */
const SILENCE_MS = 4_000

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

  it('gone for 5 s is told within 2 s, and gets over; jobs end rightly and no process ends (case 29)', async () => {
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
    for (let round = 0; round < 3; round += 1) {
      const asked = performance.now()
      const reads = Array.from({ length: 20 }, () => berth.client.request('GET', '/v1/jobs?limit=1'))
      const answers = await Promise.all([...reads, berth.client.request('POST', '/v1/jobs', { body: shellJob(berth, 'local', 'true') })])
      for (const answer of answers) expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } })
      console.log(`silence of Postgres told within ${Math.round(performance.now() - asked)} ms`)
      expect(performance.now() - asked).toBeLessThan(SILENCE_MS)
      await sleep(500)
    }
    await postgres.open()
    const back = performance.now()
    await eventually(
      () => berth.client.request('GET', '/v1/jobs?limit=1'),
      ({ status }) => status === 200,
      10,
    )
    console.log(`served again ${Math.round(performance.now() - back)} ms after the silence`)
    for (const { id } of jobs) {
      expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded' })
      expect(await berth.starts(id)).toEqual(['1/main/0'])
    }
    await berth.untilClean()
    expect(berth.processes.every((each) => each.alive())).toBe(true)
  })

  it('that does each statement of a job, but whose answer is lost, gives one job for one key, and one run (case 4)', async () => {
    postgres.loseAnswersTo(STATEMENTS)
    const submitUntilAccepted = async (place: Place, key: string): Promise<string> => {
      const request = { body: shellJob(berth, place, 'sleep 1; echo done'), headers: { 'idempotency-key': key } }
      const answer = await eventually(
        () => berth.client.request('POST', '/v1/jobs', request),
        ({ status }) => status === 202,
      )
      return (answer.body as { id: string }).id
    }
    const ids: string[] = []
    for (let round = 0; postgres.awaited.size > 0 && round < 20; round += 1) {
      for (const place of PLACES) ids.push(await submitUntilAccepted(place, `lost-${place}-${round}`))
      await sleep(500)
    }
    expect([...postgres.awaited]).toEqual([])
    await expectRanOnce(berth, ids, 'done\n')
    await berth.untilClean()
    const { rows } = await berth.database.pool.query(
      `SELECT count(DISTINCT job_id)::int AS jobs FROM idempotency_key WHERE key LIKE 'lost-%'`,
    )
    expect(rows).toEqual([{ jobs: ids.length }])
  })

  it.each(PLACES)(
    'that renews a claim, but whose answer is lost, takes nothing from who has it: a job on %s is stopped once (case 4)',
    async (place) => {
      const script = 'trap "echo asked" TERM; echo ready; while true; do sleep 0.1; done'
      const { id } = await berth.client.submit(shellJob(berth, place, script, { graceSeconds: 5 }))
      await berth.client.until(id, ({ state }) => state === 'running')
      await eventually(
        () => berth.client.log(id),
        (output) => output.toString().includes('ready'),
      )
      const epochOf = async () =>
        (await berth.database.pool.query<{ epoch: number }>('SELECT epoch FROM attempt WHERE job_id = $1', [id])).rows[0]?.epoch ?? 0
      const before = await epochOf()
      postgres.loseAnswersTo(['renew'])
      await berth.client.cancel(id)
      expect(await berth.client.ended(id)).toMatchObject({ state: 'canceled' })
      expect([...postgres.awaited]).toEqual([])
      // A shell may say as well what became of its child.
      expect((await berth.client.log(id)).toString().match(/asked/g)).toHaveLength(1)
      // One claim stops it; what else there is looks at its end.
      expect((await epochOf()) - before).toBeLessThanOrEqual(3)
      await berth.untilClean()
    },
  )

  it('whose connections are all held up by others makes nobody wait for ever (case 30)', async () => {
    const { id } = await berth.client.submit(shellJob(berth, 'local', 'sleep 2; echo done'))
    await berth.client.until(id, ({ state }) => state === 'running')
    const holder = await berth.database.pool.connect()
    await holder.query('BEGIN; LOCK TABLE job, attempt IN ACCESS EXCLUSIVE MODE')
    const requests = Array.from({ length: 50 }, async () => {
      const asked = performance.now()
      const { status } = await berth.client.request('GET', '/v1/jobs?limit=1')
      return { status, ms: performance.now() - asked }
    })
    const answers = await Promise.all(requests)
    await holder.query('ROLLBACK')
    holder.release()
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503))
    console.log(`told to 50 that were held up within ${Math.round(Math.max(...answers.map(({ ms }) => ms)))} ms`)
    expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(HELD_UP_MS)
    expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded' })
    expect(await berth.starts(id)).toEqual(['1/main/0'])
    await berth.untilClean()
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
