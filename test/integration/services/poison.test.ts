import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AttemptObservation } from '../../../src/domain/attempt.ts'
import { isTerminal } from '../../../src/domain/job-state.ts'
import { getJob } from '../../../src/services/jobs/get-job.ts'
import { submitJob } from '../../../src/services/jobs/submit-job.ts'
import { FakeScheduler } from '../../fakes/fake-scheduler.ts'
import { createTestBerth, type TestBerth } from '../../support/berth.ts'
import { ANYTHING } from '../../support/capabilities.ts'
import { eventually } from '../../support/eventually.ts'
import { requirePostgres } from '../../support/requirements.ts'

const project = 'default'

/** Says of the attempts of one job what no column can hold. */
class PoisonedScheduler extends FakeScheduler {
  poisoned = new Set<string>()

  override async *observe(signal: AbortSignal) {
    for await (const batch of super.observe(signal)) yield { ...batch, attempts: batch.attempts.map((attempt) => this.#spoilt(attempt)) }
  }

  #spoilt(attempt: AttemptObservation): AttemptObservation {
    if (!this.poisoned.has(attempt.attemptId)) return attempt
    return { ...attempt, replicas: attempt.replicas.map((replica) => ({ ...replica, nativeReason: 'a \u0000 in words' })) }
  }
}

describe.skipIf(requirePostgres().missing)('an attempt of which nothing can be taken in', () => {
  const scheduler = new PoisonedScheduler(ANYTHING)
  let berth: TestBerth
  beforeAll(async () => {
    berth = await createTestBerth({ fake: scheduler })
  })
  afterAll(() => berth.stop())

  const submit = async (seconds: string): Promise<string> => {
    const request = { scheduler: 'fake', roles: [{ command: ['true'], env: { FAKE_SECONDS: seconds } }] }
    return (await submitJob(berth.deps, { project, request, idempotency: null })).job.id
  }
  const until = (id: string, wanted: (job: Awaited<ReturnType<typeof getJob>>) => boolean) =>
    eventually(() => getJob(berth.deps, { project, id }), wanted, 30)

  it('is set aside with a reason, and the others go on', { timeout: 60_000 }, async () => {
    const bad = await submit('600')
    const { rows } = await berth.deps.pool.query<{ id: string }>('SELECT id FROM attempt WHERE job_id = $1', [bad])
    scheduler.poisoned.add(rows[0]?.id ?? '')
    berth.startWorker()
    await until(bad, ({ reason }) => reason === 'internal_error')
    const good = await submit('0')
    expect(await until(good, ({ state }) => isTerminal(state))).toMatchObject({ state: 'succeeded' })
    // The watch has come to its comparison, which notes that the scheduler is well.
    await eventually(
      async () => (await berth.deps.pool.query(`SELECT FROM scheduler_health WHERE name = 'fake' AND healthy`)).rowCount,
      (count) => count === 1,
    )
    expect(await getJob(berth.deps, { project, id: bad })).toMatchObject({ reason: 'internal_error' })
  })
})
