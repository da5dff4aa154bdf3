import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { requirePlaces } from '../support/places.ts'
import { CRASH_CASES, POINTS_OF_ARCHIVE, POINTS_OF_WEBHOOKS, type CrashCase } from './crash-cases.ts'
import { ReliefPool, type Relief } from './relief.ts'
import { acceptedJob, expectCameThrough, newStruckJob, strike } from './struck-job.ts'

/** A lease of 8 s, the sweeper's second, and a busy machine. */
const TAKEOVER_MS = 20_000

const need = requirePlaces()
const pool = new ReliefPool(need.host)
const takeovers: { crash: CrashCase; ms: number }[] = []

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

describe.skipIf(need.missing).concurrent('a Berth that is killed', () => {
  afterAll(async () => {
    await pool.dispose()
    const sorted = takeovers.map(({ ms }) => ms).sort((a, b) => a - b)
    console.log(
      `${sorted.length} takeovers: median ${Math.round(sorted[sorted.length >> 1] ?? 0)} ms, longest ${Math.round(sorted.at(-1) ?? 0)} ms`,
    )
  })

  it.for(CRASH_CASES)('at $point, in the course of a job that is $life on $place, has it run once and leaves nothing over', (crash) =>
    pool.use((relief) => survive(relief, crash)),
  )
})

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
