import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobRequest } from '../../../src/domain/job-request.ts'
import type { JobView } from '../../../src/domain/job-view.ts'
import { cancelJob } from '../../../src/services/jobs/cancel-job.ts'
import { getJob } from '../../../src/services/jobs/get-job.ts'
import { listEvents } from '../../../src/services/jobs/list-events.ts'
import { readLogs } from '../../../src/services/logs/read-logs.ts'
import { submitJob } from '../../../src/services/jobs/submit-job.ts'
import { waitForJob } from '../../../src/services/jobs/wait-for-job.ts'
import { SchedulerError } from '../../../src/schedulers/scheduler.ts'
import { FakeScheduler } from '../../fakes/fake-scheduler.ts'
import { createTestBerth, type TestBerth } from '../../support/berth.ts'
import { ANYTHING } from '../../support/capabilities.ts'

const project = 'default'
let berth: TestBerth
let fake: FakeScheduler

beforeAll(async () => {
  fake = new FakeScheduler(ANYTHING)
  berth = await createTestBerth({ fake })
  berth.startWorker()
})
afterAll(() => berth.stop())

const request = (env: Record<string, string> = {}, more: Partial<JobRequest> = {}): JobRequest =>
  ({
    scheduler: 'fake',
    roles: [{ name: 'main', command: ['true'], env }],
    ...more,
  }) as JobRequest

const submit = async (job: JobRequest): Promise<JobView> => (await submitJob(berth.deps, { project, request: job, idempotency: null })).job
const ended = (id: string): Promise<JobView> => waitForJob(berth.deps, { project, id, seconds: 20, signal: new AbortController().signal })
const eventsOf = async (id: string): Promise<string[]> => {
  const { items } = await listEvents(berth.deps, { project, id, after: 0, limit: 1_000 })
  expect(items.map((event) => event.sequence)).toEqual(items.map((_, index) => index + 1))
  return items.filter((event) => event.type !== 'job.progress').map((event) => event.type)
}
async function logOf(id: string): Promise<string> {
  const parts: Uint8Array[] = []
  const options = { follow: true }
  for await (const record of readLogs(berth.deps, { project, id, options, signal: AbortSignal.timeout(10_000) })) parts.push(record.bytes)
  return Buffer.concat(parts).toString()
}

describe('a job', () => {
  it('is accepted as queued, runs, and succeeds with its output stored and nothing native left', async () => {
    const job = await submit(request({ FAKE_LOG: 'hello\n' }))
    expect(job).toMatchObject({ state: 'queued', attempts: [{ number: 1, state: 'queued' }] })
    const view = await ended(job.id)
    expect(view).toMatchObject({
      state: 'succeeded',
      reason: null,
      attempts: [{ state: 'succeeded', roles: [{ replicas: [{ phase: 'succeeded', exitCode: 0 }] }] }],
    })
    expect(await logOf(job.id)).toBe('hello\n')
    const events = await eventsOf(job.id)
    expect(events.filter((type) => type !== 'job.pending')).toEqual([
      'job.queued',
      'job.starting',
      'job.running',
      'job.finishing',
      'job.succeeded',
    ])
    await expect.poll(() => fake.size).toBe(0)
  })

  it('fails with the exit code of its replica', async () => {
    const view = await ended((await submit(request({ FAKE_EXIT_CODE: '3' }))).id)
    expect(view).toMatchObject({ state: 'failed', reason: 'executor_error', attempts: [{ roles: [{ replicas: [{ exitCode: 3 }] }] }] })
  })

  it('is tried again as a new attempt, as often as it may be', async () => {
    const view = await ended((await submit(request({ FAKE_EXIT_CODE: '3' }, { retries: { max: 2, backoffSeconds: 0 } }))).id)
    expect(view).toMatchObject({
      state: 'failed',
      attempts: [
        { number: 1, state: 'failed' },
        { number: 2, state: 'failed' },
        { number: 3, state: 'failed' },
      ],
    })
    expect((await eventsOf(view.id)).filter((type) => type === 'job.queued')).toHaveLength(3)
  })

  it('is canceled while it runs, and only when nothing of it runs any more', async () => {
    const job = await submit(request({ FAKE_SECONDS: '60' }))
    await expect.poll(async () => (await getJob(berth.deps, { project, id: job.id })).state).toBe('running')
    expect((await cancelJob(berth.deps, { project, id: job.id })).state).toBe('canceling')
    expect(await ended(job.id)).toMatchObject({ state: 'canceled', attempts: [{ roles: [{ replicas: [{ exitCode: 143 }] }] }] })
    expect((await cancelJob(berth.deps, { project, id: job.id })).state).toBe('canceled')
  })

  it('cannot be canceled after it has succeeded', async () => {
    const { id } = await ended((await submit(request())).id)
    await expect(cancelJob(berth.deps, { project, id })).rejects.toMatchObject({ code: 'wrong_state' })
  })

  it('is ended when it runs longer than it may', async () => {
    const view = await ended((await submit(request({ FAKE_SECONDS: '60' }, { timeoutSeconds: 1 }))).id)
    expect(view).toMatchObject({ state: 'failed', reason: 'timed_out' })
  })

  it('fails without a start when nothing of it runs within queueTimeoutSeconds, once it is known that nothing does', async () => {
    fake.away = new SchedulerError('unavailable', 'nobody at home')
    const { id } = await submit(request({}, { queueTimeoutSeconds: 1, retries: { max: 3 } }))
    const reasons = async () => (await listEvents(berth.deps, { project, id, after: 0, limit: 100 })).items.map(({ reason }) => reason)
    await expect.poll(reasons, { timeout: 10_000 }).toContain('queue_timed_out')
    expect(await getJob(berth.deps, { project, id })).toMatchObject({ state: 'starting' })
    fake.away = null
    expect(await ended(id)).toMatchObject({ state: 'failed', reason: 'queue_timed_out', startedAt: null, attempts: [{ number: 1 }] })
  })

  it('that runs in time is not touched by queueTimeoutSeconds', async () => {
    const { id } = await submit(request({ FAKE_SECONDS: '2' }, { queueTimeoutSeconds: 1 }))
    expect(await ended(id)).toMatchObject({ state: 'succeeded' })
  })

  it('waits visibly while its scheduler is away, and runs when it is back', async () => {
    fake.away = new SchedulerError('unavailable', 'nobody at home')
    const { id } = await submit(request())
    await expect
      .poll(async () => getJob(berth.deps, { project, id }), { timeout: 5_000 })
      .toMatchObject({ state: 'starting', reason: 'scheduler_unreachable', detail: 'nobody at home' })
    fake.away = null
    expect((await ended(id)).state).toBe('succeeded')
  })

  it('says while it runs that nothing is known of it, and takes that back', async () => {
    const { id } = await submit(request({ FAKE_SECONDS: '4' }))
    await expect.poll(async () => (await getJob(berth.deps, { project, id })).state).toBe('running')
    fake.away = new SchedulerError('unavailable', 'nobody at home')
    const view = async () => getJob(berth.deps, { project, id })
    await expect
      .poll(view, { timeout: 5_000 })
      .toMatchObject({ state: 'running', reason: 'scheduler_unreachable', detail: 'nobody at home' })
    fake.away = null
    await expect.poll(view, { timeout: 5_000 }).toMatchObject({ state: 'running', reason: null })
    expect((await ended(id)).state).toBe('succeeded')
  })

  it('is lost, and tried again, when its replicas vanish without an outcome', { timeout: 60_000 }, async () => {
    const { id } = await submit(request({ FAKE_SECONDS: '300' }))
    await expect.poll(async () => (await getJob(berth.deps, { project, id })).state).toBe('running')
    fake.forget()
    await expect
      .poll(async () => getJob(berth.deps, { project, id }), { timeout: 30_000 })
      .toMatchObject({
        state: 'queued',
        reason: 'lost',
        attempts: [{ state: 'failed', reason: 'lost', roles: [{ replicas: [{ phase: 'lost', exitCode: null }] }] }, { number: 2 }],
      })
    await cancelJob(berth.deps, { project, id })
    expect((await ended(id)).state).toBe('canceled')
  })
})

describe('an idempotency key', () => {
  it('makes one job of fifty parallel requests, all with the same answer (case 3)', async () => {
    const idempotency = { key: 'once', fingerprint: 'a' }
    const answers = await Promise.all(Array.from({ length: 50 }, () => submitJob(berth.deps, { project, request: request(), idempotency })))
    expect(new Set(answers.map(({ job }) => JSON.stringify(job))).size).toBe(1)
    expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1)
    await expect(
      submitJob(berth.deps, { project, request: request(), idempotency: { key: 'once', fingerprint: 'b' } }),
    ).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  })
})
