import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import { readFileSync } from 'node:fs'
import { eventually } from '../support/eventually.ts'
import { Installation } from '../support/installation.ts'
import { PLACES, requirePlaces, shellJob, type Place } from '../support/places.ts'
import { expectRanOnce } from '../support/ran-once.ts'
import { ReliefPool, type Relief } from './relief.ts'

const need = requirePlaces()
const pool = new ReliefPool(need.host)

/** Just before or after something is done that must not be done twice. */
const POINTS: readonly { place: Place; point: string }[] = [
  ...[
    'docker.create.before',
    'docker.create.after',
    'docker.start.before',
    'submit.native.after',
    'settle.logs.after',
    'drive.remove.before',
  ].map((point) => ({ place: 'docker', point }) as const),
  ...['local.prepare.after', 'local.start.before', 'drive.remove.before'].map((point) => ({ place: 'local', point }) as const),
]
/** In which the one that woke up notices, and lets go. */
const NOTICED_MS = 3_000
/** Of a claim's 8 s. */
const STANDSTILL_MS = 16_000

describe.skipIf(need.missing).concurrent('a Berth that stands still for longer than its claim lasts', () => {
  afterAll(() => pool.dispose())

  it.for(POINTS)('at $point on $place changes nothing any more when it wakes up', (parked) => pool.use((relief) => outlive(relief, parked)))
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

async function outlive(relief: Relief, { place, point }: (typeof POINTS)[number]): Promise<void> {
  const { berth } = relief
  const parked = await relief.arm(`${point}:SIGSTOP`)
  const { id } = await berth.client.submit(shellJob(berth, place, 'echo done', { replicas: 2 }))
  await eventually(
    () => isStopped(parked.pid),
    (stopped) => stopped,
    40,
  )
  relief.relieve()
  await eventually(
    () => berth.database.pool.query('SELECT FROM attempt WHERE job_id = $1 AND removed_at IS NOT NULL', [id]),
    ({ rowCount }) => rowCount === 1,
    40,
  )
  parked.resume()
  await sleep(NOTICED_MS)
  await berth.untilClean()
  expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded', attempts: [{ number: 1 }] })
  await berth.client.events(id)
  expect((await berth.starts(id)).sort()).toEqual(['1/main/0', '1/main/1'])
  expect((await berth.client.log(id)).toString()).toBe('done\ndone\n')
  expect(parked.alive()).toBe(true)
  await parked.kill()
}

/** The state in /proc stands after the name, which ends with the last bracket. */
const isStopped = (pid: number): boolean => / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, ''))
