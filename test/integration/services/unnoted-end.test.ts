import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobRequest } from '../../../src/domain/job-request.ts'
import { recordReplicas } from '../../../src/db/statements/record-replicas.ts'
import { getJob } from '../../../src/services/jobs/get-job.ts'
import { submitJob } from '../../../src/services/jobs/submit-job.ts'
import { waitForJob } from '../../../src/services/jobs/wait-for-job.ts'
import { FakeScheduler } from '../../fakes/fake-scheduler.ts'
import { createTestBerth, type TestBerth } from '../../support/berth.ts'
import { ANYTHING } from '../../support/capabilities.ts'

const project = 'default'

describe('an attempt whose replicas are known to have ended without that its end was noted', () => {
  let berth: TestBerth

  beforeAll(async () => {
    berth = await createTestBerth({ fake: new FakeScheduler(ANYTHING) })
    berth.startWorker()
  })
  afterAll(() => berth.stop())

  it('is found at the next comparison, and ends as its replicas did', async () => {
    const request = { scheduler: 'fake', roles: [{ name: 'main', command: ['true'], env: { FAKE_SECONDS: '1000' } }] } as JobRequest
    const { job } = await submitJob(berth.deps, { project, request, idempotency: null })
    await expect.poll(async () => (await getJob(berth.deps, { project, id: job.id })).state, { timeout: 10_000 }).toBe('running')
    const { rows } = await berth.database.pool.query<{ id: string }>('SELECT id FROM attempt WHERE job_id = $1', [job.id])
    const times = { startedAt: new Date().toISOString(), endedAt: new Date().toISOString() }
    const ended = {
      role: 'main',
      index: 0,
      phase: 'succeeded',
      exitCode: 0,
      ...times,
      node: null,
      nativeId: null,
      nativeReason: null,
      failure: null,
    } as const
    await recordReplicas(berth.database.pool, rows[0]?.id ?? '', [ended])
    const view = await waitForJob(berth.deps, { project, id: job.id, seconds: 10, signal: new AbortController().signal })
    expect(view).toMatchObject({ state: 'succeeded' })
  })
})
