import { rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newerBerth } from '../support/built-berth.ts'
import { Installation } from '../support/installation.ts'
import { PLACES, requirePlaces, shellJob } from '../support/places.ts'
import { expectRanOnce } from '../support/ran-once.ts'

const need = requirePlaces()
/** Between two submissions. */
const PACE_MS = 250

describe.skipIf(need.missing)('a newer Berth', () => {
  let berth: Installation
  let place: string
  let newer: string
  beforeAll(async () => {
    berth = await Installation.create({ dockerHost: need.host })
    place = `${berth.dataDir}-newer`
    newer = await newerBerth(place)
    await berth.start({ serve: 'worker' })
    await berth.start({ serve: 'api' })
  })
  afterAll(async () => {
    await berth.dispose()
    await rm(place, { recursive: true })
  })

  it(
    'migrates the database under an older one, and takes its place, without a job lost, doubled or refused (case 40)',
    { timeout: 120_000 },
    async () => {
      const ids: string[] = []
      const stop = new AbortController()
      const submitting = (async () => {
        for (let count = 0; !stop.signal.aborted; count += 1) {
          const { id } = await berth.client.submit(shellJob(berth, PLACES[count % 4 === 0 ? 1 : 0], 'sleep 0.5; echo done'))
          ids.push(id)
          expect(await berth.client.request('GET', `/v1/jobs/${id}`)).toMatchObject({ status: 200 })
          expect(await berth.client.request('GET', '/v1/jobs?limit=5')).toMatchObject({ status: 200 })
          await sleep(PACE_MS)
        }
      })()
      submitting.catch(() => stop.abort())
    const [oldWorker, oldApi] = berth.processes
      await sleep(3_000)
      const worker = await berth.start({ serve: 'worker', main: newer })
      expect(worker.lines).toContainEqual(expect.objectContaining({ migrations: ['29991231235959_newer'] }))
      await sleep(6_000)
      const old = ids.length
      await berth.start({ serve: 'api', main: newer })
      await sleep(1_000)
      expect(await oldApi?.stop()).toMatchObject({ end: 0 })
      expect(await oldWorker?.stop()).toMatchObject({ end: 0 })
      await sleep(3_000)
      stop.abort()
      await submitting
      console.log(`${old} jobs before, ${ids.length - old} during and after the change`)
      await expectRanOnce(berth, ids, 'done\n')
      await berth.untilClean()
      const errors = berth.processes.flatMap(({ lines }) => lines.filter(({ level }) => level >= 50))
      expect(errors).toEqual([])
    },
  )
})
