import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JobRequest } from '../../../src/domain/job-request.ts'
import { isTerminal } from '../../../src/domain/job-state.ts'
import { getJob } from '../../../src/services/jobs/get-job.ts'
import { submitJob } from '../../../src/services/jobs/submit-job.ts'
import { sweepEndedJobs } from '../../../src/services/jobs/sweep-ended-jobs.ts'
import { FakeScheduler } from '../../fakes/fake-scheduler.ts'
import { createTestBerth, type TestBerth } from '../../support/berth.ts'
import { ANYTHING } from '../../support/capabilities.ts'
import { eventually } from '../../support/eventually.ts'
import { requirePostgres } from '../../support/requirements.ts'

const project = 'default'
const never = new AbortController().signal

describe.skipIf(requirePostgres().missing)('a job that ended long ago', () => {
  let berth: TestBerth
  beforeAll(async () => {
    berth = await createTestBerth({ fake: new FakeScheduler(ANYTHING) })
    berth.startWorker()
  })
  afterAll(() => berth.stop())

  const ended = async (): Promise<string> => {
    const request: JobRequest = { scheduler: 'fake', roles: [{ command: ['true'], env: { FAKE_LOG: 'some words\n' } }] }
    const { job } = await submitJob(berth.deps, { project, request, idempotency: null })
    const removed = 'SELECT 1 FROM attempt WHERE job_id = $1 AND removed_at IS NOT NULL'
    await eventually(
      async () =>
        isTerminal((await getJob(berth.deps, { project, id: job.id })).state) && (await berth.deps.pool.query(removed, [job.id])).rowCount,
      (gone) => gone === 1,
    )
    return job.id
  }
  const age = (id: string, days: number) =>
    berth.deps.pool.query(
      `UPDATE job SET ended_at = now() - $2::int * interval '1 day', created_at = created_at - $2::int * interval '1 day' WHERE id = $1`,
      [id, days],
    )
  const isThere = async (id: string): Promise<boolean> =>
    ((await berth.deps.pool.query('SELECT FROM job WHERE id = $1', [id])).rowCount ?? 0) > 0
  const rowsOf = async (): Promise<Record<string, number>> => {
    const tables = ['job', 'attempt', 'replica', 'job_event', 'log_stream', 'log_segment']
    const counts = tables.map(async (table) => [table, (await berth.deps.pool.query(`SELECT FROM ${table}`)).rowCount ?? 0] as const)
    return Object.fromEntries(await Promise.all(counts))
  }

  it('is forgotten with all that belongs to it, and no other is', async () => {
    const kept = await ended()
    const before = await rowsOf()
    const old = await ended()
    await age(kept, 29)
    await age(old, 31)
    await sweepEndedJobs(berth.deps, never)
    expect([await isThere(kept), await isThere(old)]).toEqual([true, false])
    expect(await rowsOf()).toEqual(before)
  })

  it('stays while something native may be left of it, while somebody is at it, and where all are kept', async () => {
    const [unclean, held, forever] = [await ended(), await ended(), await ended()]
    for (const id of [unclean, held]) await age(id, 31)
    await berth.deps.pool.query('UPDATE attempt SET removed_at = NULL, due_at = NULL WHERE job_id = $1', [unclean])
    const client = await berth.deps.pool.connect()
    await client.query('BEGIN')
    await client.query('SELECT FROM job WHERE id = $1 FOR UPDATE', [held])
    await sweepEndedJobs(berth.deps, never)
    await client.query('ROLLBACK')
    client.release()
    expect([await isThere(unclean), await isThere(held)]).toEqual([true, true])
    await age(forever, 31)
    await sweepEndedJobs({ ...berth.deps, keepJobs: { days: null, count: null } }, never)
    expect(await isThere(forever)).toBe(true)
    await sweepEndedJobs(berth.deps, never)
    expect([await isThere(unclean), await isThere(held), await isThere(forever)]).toEqual([true, false, false])
  })

  it('is forgotten when its project has more of them than are kept, the first that ended first', async () => {
    await berth.deps.pool.query('DELETE FROM job')
    const ids = [await ended(), await ended(), await ended(), await ended()]
    for (const [at, id] of ids.entries()) await age(id, 10 - at)
    await berth.deps.pool.query(`UPDATE job SET project_id = 'other' WHERE id = $1`, [ids[0]])
    await sweepEndedJobs({ ...berth.deps, keepJobs: { days: null, count: 3 } }, never)
    expect(await Promise.all(ids.map(isThere))).toEqual([true, true, true, true])
    await sweepEndedJobs({ ...berth.deps, keepJobs: { days: null, count: 1 } }, never)
    expect(await Promise.all(ids.map(isThere))).toEqual([true, false, false, true])
    const today = await ended()
    await sweepEndedJobs({ ...berth.deps, keepJobs: { days: null, count: 1 } }, never)
    expect(await isThere(today)).toBe(true)
  })

  it('is forgotten with the messages that webhooks have taken of it, and those that are still to be sent stay', async () => {
    const { pool } = berth.deps
    await pool.query(`
      INSERT INTO webhook (id, project_id, name, url, events, label_selector, scope, delivery_order, signing, header_names, enabled)
      VALUES ('hook', 'default', 'hook', 'https://example.com', '{job.*}', '{}', 'all', 'none', 'v1', '{}', false)`)
    const [old, kept] = [await ended(), await ended()]
    const message = (id: string, job: string, seq: number, due: string) =>
      pool.query(
        `INSERT INTO webhook_delivery (id, webhook_id, type, subject, seq, data, state, due_at)
         VALUES ($1, 'hook', 'job.queued', $2, $3, '{}', 'delivered', ${due})`,
        [id, job, seq],
      )
    await message('taken', old, 1, 'NULL')
    await message('waits', old, 2, `now() + interval '1 day'`)
    await message('of-another', kept, 1, 'NULL')
    await pool.query(`INSERT INTO webhook_attempt (delivery_id, number, latency_ms) VALUES ('taken', 1, 1), ('of-another', 1, 1)`)
    await age(old, 31)
    await sweepEndedJobs(berth.deps, never)
    const idsIn = async (sql: string) => (await pool.query<{ id: string }>(sql)).rows.map(({ id }) => id)
    expect(await idsIn('SELECT id FROM webhook_delivery ORDER BY id')).toEqual(['of-another', 'waits'])
    expect(await idsIn('SELECT delivery_id AS id FROM webhook_attempt')).toEqual(['of-another'])
  })
})
