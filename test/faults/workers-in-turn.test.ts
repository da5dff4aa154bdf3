import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BerthProcess } from '../support/berth-process.ts'
import { Installation } from '../support/installation.ts'
import { PLACES, requirePlaces, shellJob, type Place } from '../support/places.ts'
import { expectRanOnce } from '../support/ran-once.ts'
import { requireRedis } from '../support/requirements.ts'

const need = requirePlaces()
const redis = requireRedis()
/** Lease and lock of the dead one run out, and the other notices. */
const TAKEOVER_MS = 20_000
const STOP_MS = 15_000

describe.skipIf(need.missing || redis.missing)('one of two workers', () => {
  let berth: Installation

  beforeAll(async () => {
    berth = await Installation.create({ dockerHost: need.host, redisUrl: redis.url })
  })
  beforeEach(async () => {
    const alive = berth.processes.filter((each) => each.alive())
    if (alive.every(({ address }) => address === '')) await berth.start({ serve: 'api' })
    for (let workers = alive.filter(({ address }) => address === '').length; workers < 2; workers += 1)
      await berth.start({ serve: 'worker' })
  })
  afterAll(() => berth.dispose())

  const submit = async (place: Place, script: string, more: object = {}): Promise<string> =>
    (await berth.client.submit(shellJob(berth, place, script, { ...more }))).id

  /** The worker that watches the scheduler: it alone sees what happens there. */
  const watcherOf = async (place: Place): Promise<BerthProcess> => {
    const { rows } = await berth.database.pool.query<{ owner: string }>('SELECT owner FROM lease WHERE name = $1', [`watch:${place}`])
    const found = berth.processes.find(({ lines, alive }) => alive() && lines.some(({ worker }) => worker === rows[0]?.owner))
    if (!found) throw new Error(`nobody watches ${place}`)
    return found
  }
  const expectSucceeded = async (ids: readonly string[]): Promise<void> => {
    await expectRanOnce(berth, ids, 'done\n')
    await berth.untilClean()
  }

  it.each(PLACES)(
    'that watches %s is killed: the other sees the ends of what runs there, and all that was on its way runs once',
    async (place) => {
      const running = await Promise.all(Array.from({ length: 3 }, () => submit(place, 'sleep 3; echo done')))
      for (const id of running) await berth.client.until(id, ({ state }) => state === 'running')
      const onTheirWay = await Promise.all(Array.from({ length: 10 }, () => submit(place, 'echo done')))
      await sleep(150)
      await (await watcherOf(place)).kill()
      const killed = performance.now()
      for (const id of running) await berth.client.ended(id)
      const ms = performance.now() - killed
      console.log(`${place}: ends of running jobs known ${Math.round(ms)} ms after their watcher was killed`)
      await expectSucceeded([...running, ...onTheirWay])
      console.log(`${place}: all on their way over ${Math.round(performance.now() - killed)} ms after the kill`)
      expect(ms).toBeLessThan(TAKEOVER_MS)
    },
  )

  it('that is told to end under load gives back what it has, ends within 15 s with code 0, and nothing is lost (case 39)', async () => {
    const ids = await Promise.all(
      Array.from({ length: 30 }, (_, at) => submit(PLACES[at % 2] ?? 'local', at % 3 === 0 ? 'sleep 2; echo done' : 'echo done')),
    )
    await sleep(300)
    const watcher = await watcherOf('docker')
    // As the terminal and npm do.
    const [{ end, ms }] = await Promise.all([watcher.stop(), watcher.stop()])
    console.log(`a worker under load ended ${Math.round(ms)} ms after SIGTERM`)
    expect({ end, late: ms > STOP_MS }).toEqual({ end: 0, late: false })
    await expectSucceeded(ids)
  })

  it('and the other are told to end while a job runs: the next worker finds its end', async () => {
    const ids = await Promise.all(PLACES.map((place) => submit(place, 'sleep 3; echo done')))
    for (const id of ids) await berth.client.until(id, ({ state }) => state === 'running')
    const workers = berth.processes.filter(({ address, alive }) => address === '' && alive())
    for (const { end, ms } of await Promise.all(workers.map((worker) => worker.stop())))
      expect({ end, late: ms > STOP_MS }).toEqual({ end: 0, late: false })
    await berth.start({ serve: 'worker' })
    await expectSucceeded(ids)
  })

  it('and an API that is told to end while clients wait lets them go in time', async () => {
    const id = await submit('local', 'sleep 20', { graceSeconds: 0 })
    const api = berth.processes.find(({ address }) => address !== '')
    const waiting = [berth.client.request('GET', `/v1/jobs/${id}?wait=60`), berth.client.log(id, 'follow=true')].map((each) =>
      each.catch(() => null),
    )
    await sleep(500)
    const stopped = await api?.stop()
    expect(stopped?.end).toBe(0)
    expect(stopped?.ms).toBeLessThan(STOP_MS)
    await Promise.all(waiting)
    await berth.start({ serve: 'api' })
    await berth.client.cancel(id)
    expect(await berth.client.ended(id)).toMatchObject({ state: 'canceled' })
  })
})
