import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobView } from '../../src/domain/job-view.ts'
import { eventually } from '../support/eventually.ts'
import { Installation } from '../support/installation.ts'
import { PLACES, requirePlaces, shellJob } from '../support/places.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'
import { requireProgram } from '../support/requirements.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'
import { Nemesis } from './nemesis.ts'
import { Random } from './random.ts'

/** `npm run faults -- --soak SECONDS --seed N` sets them. */
const SECONDS = Number(process.env['BERTH_SOAK_SECONDS'] ?? 40)
const SEED = Number(process.env['BERTH_SOAK_SEED'] ?? Date.now() % 1_000_000)
/** After the last fault every job must come to its end, and every message arrive. */
const RECOVERY_SECONDS = 150
const SCRIPTS = ['true', 'sleep 1', 'sleep 3', 'exit 3', '[ "$BERTH_ATTEMPT" = 2 ]', 'head -c 100000 /dev/zero | tr "\\0" x']

const need = [requirePlaces(), requireProgram('redis-server')]
const { host } = requirePlaces()

describe.skipIf(need.some(({ missing }) => missing))('Berth under a nemesis', () => {
  let berth: Installation
  let redis: TestRedis
  let receiver: WebhookReceiver
  let nemesis: Nemesis
  /** One for each that asks, so that what is slow today does not change what the others do. */
  const [random, answers, blows] = [new Random(SEED), new Random(SEED + 1), new Random(SEED + 2)]
  const accepted = new Map<string, string>()

  beforeAll(async () => {
    redis = await startTestRedis()
    receiver = await WebhookReceiver.start()
    receiver.answer = () => (answers.next() < 0.05 ? 500 : 204)
    berth = await Installation.create({ dockerHost: host, redisUrl: redis.url })
    await Promise.all([berth.start({ serve: 'api' }), berth.start({ serve: 'worker' }), berth.start({ serve: 'worker' })])
    const body = { name: 'all', url: receiver.url('/'), events: ['job.*'] }
    await berth.client.request('POST', '/v1/webhooks', { body })
    nemesis = new Nemesis(berth, redis, blows)
  })
  afterAll(async () => {
    await berth.dispose()
    await redis.stop()
    await receiver.stop()
  })

  /** Until it is accepted, with the same key: an answer may be lost. */
  const submit = async (key: string): Promise<void> => {
    const job = shellJob(berth, random.oneOf(PLACES), random.oneOf(SCRIPTS), { retries: { max: 2, backoffSeconds: 0.5 } })
    for (;;) {
      const answer = await berth.client.request('POST', '/v1/jobs', { body: job, headers: { 'idempotency-key': key } }).catch(() => null)
      if (answer?.status === 202) return void accepted.set(key, (answer.body as { id: string }).id)
      if (answer !== null && answer.status < 500 && answer.status !== 409) throw new Error(JSON.stringify(answer))
      await sleep(200)
    }
  }

  const load = async (end: number): Promise<void> => {
    const submissions: Promise<void>[] = []
    for (let count = 0; performance.now() < end; count += 1) {
      submissions.push(submit(`soak-${count}`))
      if (random.next() < 0.1 && accepted.size > 0) {
        void berth.client.cancel(random.oneOf([...accepted.values()])).catch(() => undefined)
      }
      await sleep(100 + random.upTo(500))
    }
    await Promise.all(submissions)
  }

  const strikes = async (end: number): Promise<void> => {
    while (performance.now() < end) {
      await sleep(500 + blows.upTo(3_000))
      await nemesis.strike()
    }
  }

  it(
    `for ${SECONDS} s (seed ${SEED}) loses nothing, runs nothing twice and tells all of it`,
    { timeout: (SECONDS + 400) * 1_000 },
    async () => {
      const end = performance.now() + SECONDS * 1_000
      await Promise.all([load(end), strikes(end)])
      const healed = performance.now()
      const jobs = await Promise.all([...accepted.values()].map((id) => berth.client.ended(id, RECOVERY_SECONDS))).catch(explain)
      const quietMs = performance.now() - healed
      for (const job of jobs) await expectTrue(job)
      const { rows } = await berth.database.pool.query<{ jobs: number }>('SELECT count(*)::int AS jobs FROM job')
      expect(rows).toEqual([{ jobs: accepted.size }])
      await expectTold(jobs)
      await berth.untilClean(60)
      expect(nemesis.complaints).toEqual([])
      const ends = ['succeeded', 'failed', 'canceled'].map((end) => `${jobs.filter(({ state }) => state === end).length} ${end}`)
      const struck = [...nemesis.done].map(([what, times]) => `${times} x ${what}`)
      console.log(`seed ${SEED}: ${jobs.length} jobs (${ends.join(', ')}), all over ${Math.round(quietMs)} ms after the last fault`)
      console.log(`seed ${SEED}: ${struck.join(', ')}; ${receiver.received.length} messages`)
    },
  )

  /** What is known of the attempts that are not over, and what the processes said last. */
  async function explain(error: unknown): Promise<never> {
    const { rows } = await berth.database.pool.query(
      `SELECT id, state, owner, epoch, lease_until, due_at, ring_at, rings, outcome, now() FROM attempt WHERE removed_at IS NULL`,
    )
    console.log(`seed ${SEED}: not over: ${JSON.stringify(rows, null, 1)}`)
    for (const { pid, lines, alive } of berth.processes) {
      console.log(
        `${pid} ${alive() ? 'lives' : 'has ended'}: ${lines
          .slice(-15)
          .map((line) => JSON.stringify(line))
          .join('\n')}`,
      )
    }
    throw error
  }

  /** What the job itself wrote down decides: no replica of an attempt twice, and once where there is an outcome of its own. */
  async function expectTrue(job: JobView): Promise<void> {
    await berth.client.events(job.id)
    const starts = await berth.starts(job.id)
    expect(new Set(starts).size, `${job.id} started ${starts.join(' ')}`).toBe(starts.length)
    for (const { number, state, reason } of job.attempts) {
      const ranToItsEnd = state === 'succeeded' || reason === 'executor_error'
      if (ranToItsEnd) expect(starts, `${job.id}, attempt ${number}: ${state} ${reason}`).toContain(`${number}/main/0`)
    }
  }

  /** Every event of every job, at least once. */
  async function expectTold(jobs: readonly JobView[]): Promise<void> {
    const missing = async (): Promise<string[]> => {
      const told = new Set(receiver.received.map(({ body }) => `${String(body.data['jobId'])} ${String(body.data['sequence'])}`))
      const { rows } = await berth.database.pool.query<{ event: string }>(`SELECT job_id || ' ' || seq AS event FROM job_event`)
      return rows.map(({ event }) => event).filter((event) => !told.has(event))
    }
    await eventually(missing, (left) => left.length === 0, RECOVERY_SECONDS)
    expect(jobs.length).toBe(accepted.size)
  }
})
