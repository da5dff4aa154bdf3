import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sweepOld } from '../../../src/services/sweep-old.ts'
import { FakeScheduler } from '../../fakes/fake-scheduler.ts'
import { createTestBerth, type TestBerth } from '../../support/berth.ts'
import { ANYTHING } from '../../support/capabilities.ts'
import { requirePostgres } from '../../support/requirements.ts'

const never = new AbortController().signal
/** More than two batches. */
const MANY = 1_201

describe.skipIf(requirePostgres().missing)('a sweep of what is old', () => {
  let berth: TestBerth
  beforeAll(async () => {
    berth = await createTestBerth({ fake: new FakeScheduler(ANYTHING) })
  })
  afterAll(() => berth.stop())

  /** The `number` that is in each row. */
  const numbersIn = async (table: string, number: string): Promise<number[]> =>
    (await berth.deps.pool.query<{ number: number }>(`SELECT ${number}::int AS number FROM ${table} ORDER BY 1`)).rows.map(
      (row) => row.number,
    )

  it('takes all of it, however much, and leaves the rest', async () => {
    const { pool } = berth.deps
    const each = (age: string) => `generate_series(1, ${MANY + 1}) AS n, LATERAL (SELECT now() - CASE n WHEN ${MANY + 1}
      THEN interval '0 s' ELSE interval '${age}' END AS at) AS time`
    await pool.query(`INSERT INTO idempotency_key (project_id, route, key, fingerprint, job_id, created_at)
      SELECT 'default', 'POST /v1/jobs', n::text, '', 'job', at FROM ${each('25 hours')}`)
    await pool.query(`INSERT INTO drive_commit (id, drive_id, on_conflict, figures, mover_until, done_at)
      SELECT n::text, 'drive', 'fail', '{}', at, at FROM ${each('31 days')}`)
    await pool.query(`INSERT INTO drive_event (drive_id, seq, type, data, at)
      SELECT 'drive', n, 'commit', '{}', at FROM ${each('31 days')}`)
    await pool.query(`INSERT INTO webhook_delivery (id, webhook_id, type, subject, seq, data, event_at)
      SELECT n::text, 'hook', 'job.queued', 'job', n, '{}', at FROM ${each('31 days')}`)
    await pool.query(`INSERT INTO webhook_attempt (delivery_id, number, latency_ms) SELECT id, 1, 1 FROM webhook_delivery`)
    await sweepOld(berth.deps, never)
    const left = [MANY + 1]
    expect(await numbersIn('idempotency_key', 'key')).toEqual(left)
    expect(await numbersIn('drive_commit', 'id')).toEqual(left)
    expect(await numbersIn('drive_event', 'seq')).toEqual(left)
    expect(await numbersIn('webhook_delivery', 'id')).toEqual(left)
    expect(await numbersIn('webhook_attempt', 'delivery_id')).toEqual(left)
  })
})
