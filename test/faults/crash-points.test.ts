import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { isTerminal } from '../../src/domain/job-state.ts'
import { PLACES, requirePlaces } from '../support/places.ts'
import { CANCEL_CASES, CRASH_CASES, POINTS_OF_ARCHIVE, POINTS_OF_WEBHOOKS, type CrashCase } from './crash-cases.ts'
import { ReliefPool, type Relief } from './relief.ts'
import { acceptedJob, expectCameThrough, newStruckJob, strike } from './struck-job.ts'

/** A lease of 8 s, the sweeper's second, and a busy machine. */
const TAKEOVER_MS = 20_000

const need = requirePlaces()
const pool = new ReliefPool(need.host)
const takeovers: { crash: CrashCase; ms: number }[] = []

afterAll(() => pool.dispose())

describe('the list of crash points', () => {
  it('is complete: each that stands in src is passed by a case', () => {
    const src = fileURLToPath(new URL('../../src', import.meta.url))
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
    const named = files.flatMap((path) =>
      [...readFileSync(`${src}/${path}`, 'utf8').matchAll(/crashPoint\('([^']+)'\)/g)].map(([, name]) => name),
    )
    expect(new Set([...CRASH_CASES.map(({ point }) => point), ...POINTS_OF_WEBHOOKS, ...POINTS_OF_ARCHIVE])).toEqual(new Set(named))
  })
})

describe.skipIf(need.missing).concurrent.each(PLACES)(
  'a job on %s that 100 clients cancel when its Berth was killed (case 31)',
  (place) => {
    it.for(CANCEL_CASES[place])('at %s ends once, as canceled or as it truly did', (point) =>
      pool.use((relief) => cancelAfter(relief, { place, point, life: 'plain' })),
    )
  },
)

describe.skipIf(need.missing).concurrent('a Berth that is killed (cases 1, 2, 9, 11)', () => {
  afterAll(() => {
    const sorted = takeovers.map(({ ms }) => ms).sort((a, b) => a - b)
    console.log(
      `${sorted.length} takeovers: median ${Math.round(sorted[sorted.length >> 1] ?? 0)} ms, longest ${Math.round(sorted.at(-1) ?? 0)} ms`,
    )
  })

  it.for(CRASH_CASES)('at $point, in the course of a job that is $life on $place, has it run once and leaves nothing over', (crash) =>
    pool.use((relief) => survive(relief, crash)),
  )
})

/** Everybody asks for the cancel at once. */
const CANCELS = 100

async function cancelAfter(relief: Relief, crash: CrashCase): Promise<void> {
  const { berth } = relief
  const job = newStruckJob(relief, crash)
  const { struck, answer } = await strike(job, 'SIGKILL')
  expect(await struck.ended).toBe('SIGKILL')
  relief.relieve()
  const { id } = await acceptedJob(job, answer)
  await Promise.all(Array.from({ length: CANCELS }, () => berth.client.request('POST', `/v1/jobs/${id}/cancel`)))
  const { state, attempts } = await berth.client.ended(id)
  await berth.untilClean()
  const events = await berth.client.events(id)
  expect(['canceled', 'succeeded']).toContain(state)
  expect(events.filter((event) => event.state === state && isTerminal(event.state))).toHaveLength(1)
  expect(attempts).toHaveLength(1)
  const starts = await berth.starts(id)
  expect(starts).toEqual([...new Set(starts)])
  if (state === 'succeeded') expect((await berth.client.log(id)).toString()).toBe('done\ndone\n')
}

async function survive(relief: Relief, crash: CrashCase): Promise<void> {
  const job = newStruckJob(relief, crash)
  const { struck, answer } = await strike(job, 'SIGKILL')
  expect(await struck.ended).toBe('SIGKILL')
  relief.relieve()
  const { id } = await acceptedJob(job, answer)
  const ms = await relief.takeover(id)
  takeovers.push({ crash, ms })
  await expectCameThrough(job, id)
  expect(ms).toBeLessThan(TAKEOVER_MS)
}
