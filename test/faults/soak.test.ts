import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inLanes } from '../../src/in-lanes.ts'
import type { JobView } from '../../src/domain/job-view.ts'
import { eventually } from '../support/eventually.ts'
import { Installation } from '../support/installation.ts'
import { createTestDatabase } from '../support/database.ts'
import { shellJob } from '../support/places.ts'
import { startMortalPostgres } from '../support/postgres.ts'
import { startPrivateDocker } from '../support/private-docker.ts'
import { startTestRedis } from '../support/redis.ts'
import { requireProgram, requireRoot } from '../support/requirements.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'
import { Nemesis, type Services } from './nemesis.ts'
import { tellOfOpenAttempts } from './open-attempts.ts'
import { Random } from '../support/random.ts'

/** `npm run faults -- --soak SECONDS --seed N` sets them. */
const SECONDS = Number(process.env['BERTH_SOAK_SECONDS'] ?? 40)
const JOBS_PER_SECOND = Number(process.env['BERTH_SOAK_JOBS_PER_SECOND'] ?? 3)
const FAULTS_PER_SECOND = Number(process.env['BERTH_SOAK_FAULTS_PER_SECOND'] ?? 0.5)
const SEED = Number(process.env['BERTH_SOAK_SEED'] ?? Date.now() % 1_000_000)
/** After the last fault every job must come to its end, and every message arrive: what has piled up takes its time. */
const RECOVERY_SECONDS = 150 + SECONDS / 4
const SCRIPTS = ['true', 'sleep 1', 'sleep 3', 'exit 3', '[ "$BERTH_ATTEMPT" = 2 ]', 'head -c 100000 /dev/zero | tr "\\0" x']

/** A container costs this machine much more than a process does: about one in two seconds is what it can make besides. */
const DOCKER_SHARE = Math.min(0.3, 0.5 / JOBS_PER_SECOND)
/** Those among which one to cancel is chosen: most of what is older has ended. */
const RECENT = 10
/** Of what is asked and checked at once. */
const LANES = 20

const need = [requireRoot(), ...['redis-server', 'dockerd', 'bwrap'].map(requireProgram)]

describe.skipIf(need.some(({ missing }) => missing))('Berth under a nemesis', () => {
  let berth: Installation
  let services: Services
  let receiver: WebhookReceiver
  let nemesis: Nemesis
  /** One for each that asks, so that what is slow today does not change what the others do. */
  const [random, answers] = [new Random(SEED), new Random(SEED + 1)]
  const accepted = new Map<string, string>()

  beforeAll(async () => {
    services = {
      redis: await startTestRedis(),
      postgres: await startMortalPostgres(),
      docker: await startPrivateDocker({ flags: ['--live-restore', '--debug'] }),
    }
    receiver = await WebhookReceiver.start()
    receiver.answer = () => (answers.next() < 0.05 ? 500 : 204)
    const database = await createTestDatabase(services.postgres.url)
    berth = await Installation.create({ database, dockerHost: services.docker.host, redisUrl: services.redis.url })
    await Promise.all([berth.start({ serve: 'api' }), berth.start({ serve: 'worker' }), berth.start({ serve: 'worker' })])
    const body = { name: 'all', url: receiver.url('/'), events: ['job.*'] }
    await berth.client.request('POST', '/v1/webhooks', { body })
    nemesis = new Nemesis(berth, services)
  })
  afterAll(async () => {
    try {
      await berth.dispose()
    } finally {
      await Promise.all([...Object.values(services).map((service: { stop(): Promise<void> }) => service.stop()), receiver.stop()])
    }
  })

  /** Until it is accepted, with the same key: an answer may be lost. */
  const submit = async (key: string): Promise<void> => {
    const place = random.next() < DOCKER_SHARE ? 'docker' : 'local'
    const job = shellJob(berth, place, random.oneOf(SCRIPTS), { retries: { max: 2, backoffSeconds: 0.5 } })
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
        void berth.client.cancel(random.oneOf([...accepted.values()].slice(-RECENT))).catch(() => undefined)
      }
      await sleep(random.upTo(2_000 / JOBS_PER_SECOND))
    }
    await Promise.all(submissions)
  }

  /** Half of the faults are each lane's. */
  const strikes = async (end: number, strike: (random: Random) => Promise<void>, blows: Random): Promise<void> => {
    while (performance.now() < end) {
      await sleep(blows.upTo(4_000 / FAULTS_PER_SECOND))
      await strike(blows)
    }
  }

  it(
    `for ${SECONDS} s (seed ${SEED}) loses nothing, runs nothing twice and tells all of it`,
    { timeout: (SECONDS + 3 * RECOVERY_SECONDS) * 1_000 },
    async () => {
      const end = performance.now() + SECONDS * 1_000
      await Promise.all([
        load(end),
        strikes(end, (blows) => nemesis.strikeProcess(blows), new Random(SEED + 2)),
        strikes(end, (blows) => nemesis.strikeService(blows), new Random(SEED + 3)),
      ])
      await nemesis.rest()
      const healed = performance.now()
      const struck = [...nemesis.done].map(([what, times]) => `${times} x ${what}`)
      console.log(`seed ${SEED}: ${accepted.size} jobs accepted; ${nemesis.crashes} crashes: ${struck.join(', ')}`)
      const jobs: JobView[] = []
      await inLanes(LANES, [...accepted.values()], async (id) => void jobs.push(await berth.client.ended(id, RECOVERY_SECONDS))).catch(
        explain,
      )
      const quietMs = performance.now() - healed
      await inLanes(LANES, jobs, expectTrue)
      const { rows } = await berth.database.pool.query<{ jobs: number }>('SELECT count(*)::int AS jobs FROM job')
      expect(rows).toEqual([{ jobs: accepted.size }])
      await expectTold(jobs)
      await berth.untilClean(60)
      expect(nemesis.complaints).toEqual([])
      expect(berth.processes.flatMap(({ lines }) => lines).filter(({ level }) => level === 0), 'no line of the log').toEqual([])
      const ends = ['succeeded', 'failed', 'canceled'].map((end) => `${jobs.filter(({ state }) => state === end).length} ${end}`)
      console.log(`seed ${SEED}: ${jobs.length} jobs (${ends.join(', ')}), all over ${Math.round(quietMs)} ms after the last fault`)
      const { rows: reasons } = await berth.database.pool.query<{ reason: string }>(
        `SELECT concat(count(*), ' ', reason, ' on ', scheduler) reason FROM attempt WHERE reason IS NOT NULL GROUP BY reason, scheduler`,
      )
      console.log(`seed ${SEED}: attempts: ${reasons.map(({ reason }) => reason).join(', ')}`)
      console.log(`seed ${SEED}: ${receiver.received.length} messages`)
    },
  )

  /** A fault that comes once in ten thousand jobs must be understood from what it left behind. */
  async function explain(error: unknown): Promise<never> {
    await tellOfOpenAttempts(berth, services.docker).catch((silence: unknown) => console.log('nothing more is known:', silence))
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
