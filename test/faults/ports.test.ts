import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobView } from '../../src/domain/job-view.ts'
import { isTerminal } from '../../src/domain/job-state.ts'
import { SchedulerError } from '../../src/schedulers/scheduler.ts'
import { cancelJob } from '../../src/services/jobs/cancel-job.ts'
import { getJob } from '../../src/services/jobs/get-job.ts'
import { listEvents } from '../../src/services/jobs/list-events.ts'
import { submitJob } from '../../src/services/jobs/submit-job.ts'
import { readLogs } from '../../src/services/logs/read-logs.ts'
import { FakeScheduler } from '../fakes/fake-scheduler.ts'
import { faultyQueue } from '../fakes/faulty-queue.ts'
import { faultyScheduler } from '../fakes/faulty-scheduler.ts'
import { PortFaults } from '../fakes/port-faults.ts'
import { createTestBerth, type TestBerth } from '../support/berth.ts'
import { ANYTHING } from '../support/capabilities.ts'
import { eventually } from '../support/eventually.ts'
import { Random } from '../support/random.ts'
import { requirePostgres } from '../support/requirements.ts'

const project = 'default'
const CHANCE = 0.25
const JOBS = 80
/** Of jobs in a second. */
const PACE = 8
/** A claim that has failed often waits for up to 30 s. */
const RECOVERY_SECONDS = 60
/** The second of each is another one in every run; `BERTH_PORTS_SEED` repeats it. */
const SEEDS = [1, Number(process.env['BERTH_PORTS_SEED'] ?? Date.now() % 1_000_000)]

interface Submitted {
  readonly id: string
  readonly replicas: number
  readonly exitCode: number
  readonly log: string
  canceled: boolean
}

describe.skipIf(requirePostgres().missing).each(SEEDS)('jobs over bad lines to scheduler and queue, with seed %i (case 10),', (seed) => {
  let berth: TestBerth
  let fake: FakeScheduler
  const random = new Random(seed)
  const lines = [
    new PortFaults({ random, chance: CHANCE, delayMs: 3_000, error: (words) => new SchedulerError('unavailable', words) }),
    new PortFaults({ random, chance: CHANCE, delayMs: 3_000, error: (words) => new Error(words) }),
  ] as const
  const submitted: Submitted[] = []

  beforeAll(async () => {
    fake = new FakeScheduler(ANYTHING)
    berth = await createTestBerth({ fake })
    const [toScheduler, toQueue] = lines
    for (let worker = 0; worker < 3; worker += 1) {
      berth.startWorker({
        scheduler: (direct) => faultyScheduler(direct, toScheduler),
        queue: (direct) => faultyQueue(direct, toQueue),
      })
    }
  })
  afterAll(() => berth.stop())

  async function submit(number: number): Promise<void> {
    const [replicas, exitCode, seconds, log] = [1 + random.upTo(3), random.oneOf([0, 0, 3]), random.oneOf([0, 0.5, 2]), `job ${number}\n`]
    const env = { FAKE_EXIT_CODE: String(exitCode), FAKE_SECONDS: String(seconds), FAKE_LOG: log }
    const request = {
      scheduler: 'fake',
      roles: [{ name: 'main', command: ['true'], replicas, env }],
      retries: { max: 1, backoffSeconds: 0 },
    }
    const { job } = await submitJob(berth.deps, { project, request, idempotency: null })
    submitted.push({ id: job.id, replicas, exitCode, log, canceled: false })
    if (random.next() >= 0.2) return
    const chosen = random.oneOf(submitted)
    await cancelJob(berth.deps, { project, id: chosen.id }).then(
      ({ state }) => (chosen.canceled ||= state === 'canceling' || state === 'canceled'),
      () => undefined,
    )
  }

  const viewOf = (id: string): Promise<JobView> => getJob(berth.deps, { project, id })
  const ended = (id: string): Promise<JobView> =>
    eventually(
      () => viewOf(id),
      ({ state }) => isTerminal(state),
      RECOVERY_SECONDS,
    )
  async function outputOf(id: string, attempt: number, replica: number): Promise<string> {
    const parts: Uint8Array[] = []
    const options = { follow: false, attempt, replica }
    for await (const { bytes } of readLogs(berth.deps, { project, id, options, signal: AbortSignal.timeout(10_000) })) parts.push(bytes)
    return Buffer.concat(parts).toString()
  }

  it('each end as they truly did, started once, told without a gap, with nothing left', { timeout: 180_000 }, async () => {
    for (let number = 0; number < JOBS; number += 1) {
      await submit(number)
      await sleep(1_000 / PACE)
    }
    await sleep(3_000)
    for (const line of lines) line.quiet()
    console.log(`faults with seed ${seed}:`, ...lines.map(({ counts }) => counts))

    const expected = (job: Submitted): string[] => [job.exitCode === 0 ? 'succeeded' : 'failed', ...(job.canceled ? ['canceled'] : [])]
    for (const job of submitted) {
      const view = await ended(job.id)
      expect(expected(job), `${job.id}: ${view.reason ?? ''} ${view.detail ?? ''}`).toContain(view.state)
      if (!job.canceled) {
        expect(view.attempts.length).toBe(job.exitCode === 0 ? 1 : 2)
        for (const { number, roles } of view.attempts) {
          expect(roles[0]?.replicas.map(({ exitCode }) => exitCode)).toContain(job.exitCode)
          if (job.exitCode === 0) expect(await outputOf(job.id, number, job.replicas - 1)).toBe(job.log)
        }
      }
      const { items } = await listEvents(berth.deps, { project, id: job.id, after: 0, limit: 1_000 })
      expect(items.map(({ sequence }) => sequence)).toEqual(items.map((_, index) => index + 1))
      expect(items.filter(({ type }) => ['job.succeeded', 'job.failed', 'job.canceled'].includes(type))).toHaveLength(1)
    }
    expect(new Set(fake.starts).size).toBe(fake.starts.length)
    await eventually(
      () => fake.size,
      (left) => left === 0,
      RECOVERY_SECONDS,
    )
    for (const fault of ['error', 'lost answer', 'duplicate', 'delay'] as const) {
      for (const { counts } of lines) expect(counts[fault], fault).toBeGreaterThan(0)
    }
    expect(lines[0].counts.stale).toBeGreaterThan(0)
  })
})
