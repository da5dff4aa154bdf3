import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '../support/eventually.ts'
import { Installation } from '../support/installation.ts'
import { PLACES, requirePlaces, shellJob } from '../support/places.ts'
import { expectRanOnce } from '../support/ran-once.ts'
import { CRASH_CASES, type CrashCase } from './crash-cases.ts'
import { ReliefPool, type Relief } from './relief.ts'
import { acceptedJob, expectCameThrough, newStruckJob, strike } from './struck-job.ts'

const need = requirePlaces()
const pool = new ReliefPool(need.host)

/** In which the one that woke up notices, and lets go. */
const NOTICED_MS = 3_000
/** Of a claim's 8 s. */
const STANDSTILL_MS = 16_000

describe.skipIf(need.missing).concurrent('a Berth that stands still for longer than its claim lasts (case 12)', () => {
  afterAll(() => pool.dispose())

  it.for(CRASH_CASES)('at $point, in the course of a job that is $life on $place, changes nothing any more when it wakes up', (crash) =>
    pool.use((relief) => outlive(relief, crash)),
  )
})

describe.skipIf(need.missing)('a worker whose event loop is blocked for two claims (case 13)', () => {
  let berth: Installation

  beforeAll(async () => {
    berth = await Installation.create({ dockerHost: need.host })
    await berth.start({ serve: 'api' })
  })
  afterAll(() => berth.dispose())

  it('starts nothing twice and writes nothing stale, while another one goes on with its jobs', async () => {
    const standstill = new URL('../support/standstill.mjs', import.meta.url).href
    const env = { NODE_OPTIONS: `--import ${standstill}`, BERTH_TEST_STANDSTILL_MS: String(STANDSTILL_MS) }
    const blocked = await berth.start({ serve: 'worker', env })
    const scripts = ['echo done', 'sleep 2; echo done', 'sleep 20; echo done']
    const jobs = await Promise.all(PLACES.flatMap((place) => scripts.map((script) => berth.client.submit(shellJob(berth, place, script)))))
    process.kill(blocked.pid, 'SIGUSR2')
    await berth.start({ serve: 'worker' })
    await expectRanOnce(
      berth,
      jobs.map(({ id }) => id),
      'done\n',
    )
    await berth.untilClean(40)
    expect(blocked.alive()).toBe(true)
  })
})

async function outlive(relief: Relief, crash: CrashCase): Promise<void> {
  const { berth } = relief
  const job = newStruckJob(relief, crash)
  const { struck, answer } = await strike(job, 'SIGSTOP')
  relief.relieve()
  const { id } = await acceptedJob(job, answer)
  await eventually(
    () => berth.database.pool.query('SELECT FROM attempt WHERE job_id = $1 AND removed_at IS NOT NULL', [id]),
    ({ rowCount }) => rowCount === 1,
    40,
  )
  struck.resume()
  // Whoever stood still in the middle of a submit gives the answer that the other has given.
  expect((await answer)?.id).toBe(id)
  await sleep(NOTICED_MS)
  await expectCameThrough(job, id)
  expect(struck.alive()).toBe(true)
  await struck.kill()
}
