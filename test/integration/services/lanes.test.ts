import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AttemptSpec } from '../../../src/domain/attempt.ts'
import type { SubmitContext } from '../../../src/schedulers/scheduler.ts'
import { submitJob } from '../../../src/services/jobs/submit-job.ts'
import { waitForJob } from '../../../src/services/jobs/wait-for-job.ts'
import { FakeScheduler } from '../../fakes/fake-scheduler.ts'
import { createTestBerth, type TestBerth } from '../../support/berth.ts'
import { ANYTHING } from '../../support/capabilities.ts'
import { eventually } from '../../support/eventually.ts'
import { requirePostgres } from '../../support/requirements.ts'

const project = 'default'
const HUNG_JOBS = 200

/** Takes every call, and answers none until it is told to. */
class HungScheduler extends FakeScheduler {
  readonly #told = new AbortController()
  asked = 0

  answer(): void {
    this.#told.abort()
  }

  override async submit(spec: AttemptSpec, context: SubmitContext): Promise<void> {
    this.asked += 1
    await sleep(600_000, undefined, { signal: AbortSignal.any([this.#told.signal, context.signal]) }).catch(() => undefined)
    return super.submit(spec, context)
  }
}

describe.skipIf(requirePostgres().missing)('a scheduler that hangs', () => {
  let berth: TestBerth
  const hung = new HungScheduler(ANYTHING)
  beforeAll(async () => {
    berth = await createTestBerth({ hung, fake: new FakeScheduler(ANYTHING) })
    berth.startWorker()
  })
  afterAll(() => berth.stop())

  const submit = async (scheduler: string): Promise<string> => {
    const request = { scheduler, roles: [{ name: 'main', command: ['true'] }] }
    return (await submitJob(berth.deps, { project, request, idempotency: null })).job.id
  }
  const ended = (id: string, seconds: number) => waitForJob(berth.deps, { project, id, seconds, signal: new AbortController().signal })

  it('does not hold up the jobs of another, and gets all of its own when it answers again', { timeout: 120_000 }, async () => {
    const held = await Promise.all(Array.from({ length: HUNG_JOBS }, () => submit('hung')))
    await eventually(
      () => hung.asked,
      (asked) => asked === 32,
    )
    for (let round = 0; round < 3; round += 1) {
      const ids = await Promise.all(Array.from({ length: 5 }, () => submit('fake')))
      for (const id of ids) expect(await ended(id, 20)).toMatchObject({ state: 'succeeded' })
    }
    expect(hung.asked).toBe(32)
    hung.answer()
    for (const id of held) expect(await ended(id, 60)).toMatchObject({ state: 'succeeded' })
  })
})
