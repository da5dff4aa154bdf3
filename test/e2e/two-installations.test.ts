import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Installation } from '../support/installation.ts'
import { requirePlaces, shellJob } from '../support/places.ts'
import { requireRedis } from '../support/requirements.ts'

const need = requirePlaces()
const redis = requireRedis()

describe.skipIf(need.missing || redis.missing)('two installations on one Docker daemon and one Redis', () => {
  let installations: Installation[]

  beforeAll(async () => {
    const create = (): Promise<Installation> => Installation.create({ dockerHost: need.host, redisUrl: redis.url })
    installations = await Promise.all([create(), create()])
    await Promise.all(installations.map((each) => each.start()))
  })
  afterAll(() => Promise.all(installations.map((each) => each.dispose())))

  it('run jobs of equal names at the same time, each its own, and see nothing of each other', async () => {
    const run = async (berth: Installation, at: number): Promise<void> => {
      const jobs = await Promise.all(
        [0, 1].map((round) => berth.client.submit(shellJob(berth, 'docker', `echo ${at}-${round}`, { name: 'same', replicas: 2 }))),
      )
      for (const [round, { id }] of jobs.entries()) {
        expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded' })
        expect((await berth.client.log(id)).toString()).toBe(`${at}-${round}\n`.repeat(2))
        expect((await berth.starts(id)).sort()).toEqual(['1/main/0', '1/main/1'])
      }
      const { body } = await berth.client.request('GET', '/v1/jobs')
      expect((body as { items: { id: string }[] }).items.map(({ id }) => id).sort()).toEqual(jobs.map(({ id }) => id).sort())
    }
    await Promise.all(installations.map(run))
    await Promise.all(installations.map((each) => each.untilClean()))
  })

  it('leave alone what runs for the other when they are killed, restarted and clean up', async () => {
    const [one, other] = installations as [Installation, Installation]
    const { id } = await other.client.submit(shellJob(other, 'docker', 'sleep 60', { graceSeconds: 0 }))
    await other.client.until(id, ({ state }) => state === 'running')
    const [before] = await other.nativeObjects()
    await one.processes[0]?.kill()
    await one.start()
    const { id: own } = await one.client.submit(shellJob(one, 'docker', 'true'))
    await one.client.ended(own)
    await one.untilClean()
    expect((await other.nativeObjects())[0]).toEqual(before)
    expect(await other.client.get(id)).toMatchObject({ state: 'running' })
    await other.client.cancel(id)
    expect(await other.client.ended(id)).toMatchObject({ state: 'canceled' })
    await other.untilClean()
  })
})
