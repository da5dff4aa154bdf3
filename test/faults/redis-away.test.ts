import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BerthProcess } from '../support/berth-process.ts'
import { Installation } from '../support/installation.ts'
import { shellJob } from '../support/places.ts'
import { expectRanOnce } from '../support/ran-once.ts'
import { startProxy, type Proxy } from '../support/proxy.ts'
import { startTestRedis, type TestRedis } from '../support/redis.ts'
import { requireProgram } from '../support/requirements.ts'

const redisServer = requireProgram('redis-server')
const sandbox = requireProgram('bwrap')

describe.skipIf(redisServer.missing || sandbox.missing)('Redis', () => {
  let redis: TestRedis
  let berth: Installation
  let worker: BerthProcess

  beforeAll(async () => {
    redis = await startTestRedis()
    await redis.kill()
    berth = await Installation.create({ redisUrl: redis.url })
    await Promise.all([berth.start({ serve: 'api' }), berth.start({ serve: 'worker' }).then((started) => (worker = started))])
  })
  afterAll(async () => {
    await berth.dispose()
    await redis.stop()
  })

  const succeeds = async (ids: readonly string[]): Promise<void> => {
    await expectRanOnce(berth, ids, '')
    await berth.untilClean()
  }
  const submit = async (script: string): Promise<string> => (await berth.client.submit(shellJob(berth, 'local', script))).id

  it('that has never been there keeps nobody from submitting; the jobs run when it comes (case 5)', async () => {
    expect(await berth.client.request('GET', '/readyz')).toMatchObject({ status: 200 })
    const asked = performance.now()
    const ids = [await submit('true'), await submit('true')]
    expect(performance.now() - asked).toBeLessThan(5_000)
    await sleep(3_000)
    expect(await berth.client.get(ids[0] ?? '')).toMatchObject({ state: 'queued' })
    await redis.start()
    const back = performance.now()
    await succeeds(ids)
    console.log(`jobs over ${Math.round(performance.now() - back)} ms after the first start of Redis`)
  })

  it('that dies with all that it holds, at the submission of one job and in the course of another, loses none (case 6)', async () => {
    const running = await submit('sleep 3')
    await berth.client.until(running, ({ state }) => state === 'running')
    await redis.kill()
    const waiting = await submit('true')
    // Nothing of a job that runs needs the queue, but its last step.
    await sleep(4_000)
    await redis.start()
    const back = performance.now()
    await succeeds([running, waiting])
    console.log(`jobs over ${Math.round(performance.now() - back)} ms after Redis came back empty`)
  })

  it('that is flushed again and again under load loses no job (case 7)', async () => {
    const client = new Redis(redis.url)
    const ids: string[] = []
    for (let round = 0; round < 10; round += 1) {
      ids.push(await submit('true'), await submit('sleep 0.2'))
      await client.flushall()
    }
    client.disconnect()
    const flushed = performance.now()
    await succeeds(ids)
    console.log(`20 jobs over ${Math.round(performance.now() - flushed)} ms after the last FLUSHALL`)
  })

  it('that is full keeps nobody from submitting, and is rung when there is room again (case 8)', async () => {
    const client = new Redis(redis.url)
    await client.set('ballast', Buffer.alloc(8_000_000))
    await client.config('SET', 'maxmemory', '1mb')
    const ids = await Promise.all(Array.from({ length: 5 }, () => submit('true')))
    await sleep(3_000)
    expect(await berth.client.get(ids[0] ?? '')).toMatchObject({ state: 'queued' })
    expect(worker.lines.some(({ msg }) => msg.includes('doorbells'))).toBe(true)
    await client.config('SET', 'maxmemory', '0')
    client.disconnect()
    await succeeds(ids)
  })

  it('that throws out what it holds, by a wrong policy, loses no job (case 8)', async () => {
    const client = new Redis(redis.url)
    await client.del('ballast')
    await client.config('SET', 'maxmemory-policy', 'allkeys-random')
    const [, used = ''] = /used_memory:(\d+)/.exec(await client.info('memory')) ?? []
    await client.config('SET', 'maxmemory', String(Number(used) + 500_000))
    const ids: string[] = []
    for (let round = 0; round < 40; round += 1) {
      await client.set(`stuffing-${round}`, Buffer.alloc(50_000)).catch(() => undefined)
      ids.push(await submit('true'))
    }
    const [, evicted = '0'] = /evicted_keys:(\d+)/.exec(await client.info('stats')) ?? []
    console.log(`Redis has thrown out ${evicted} keys`)
    expect(Number(evicted)).toBeGreaterThan(0)
    await client.config('SET', 'maxmemory', '0')
    client.disconnect()
    await succeeds(ids)
  })

  it('that is gone does not keep a worker from ending in time', async () => {
    await redis.kill()
    const { end, ms } = await worker.stop()
    expect(end).toBe(0)
    expect(ms).toBeLessThan(15_000)
    console.log(`a worker without Redis ended ${Math.round(ms)} ms after SIGTERM`)
  })
})

describe.skipIf(redisServer.missing || sandbox.missing)('a line to Redis', () => {
  let redis: TestRedis
  let line: Proxy
  let berth: Installation

  beforeAll(async () => {
    redis = await startTestRedis()
    const { hostname, port } = new URL(redis.url)
    line = await startProxy({ host: hostname, port: Number(port) }, {})
    berth = await Installation.create({ redisUrl: `redis://127.0.0.1:${line.port}` })
    await Promise.all([berth.start({ serve: 'api' }), berth.start({ serve: 'worker' })])
  })
  afterAll(async () => {
    await berth.dispose()
    await line.close()
    await redis.stop()
  })

  const submit = async (): Promise<string> => (await berth.client.submit(shellJob(berth, 'local', 'echo done'))).id
  const WAYS = [
    { what: 'that is silent for 8 s', act: async () => (line.hush(), await sleep(8_000), await line.open()) },
    { what: 'whose connections are silent for good, though nobody has cut them', act: async () => line.strand() },
  ]

  it.each(WAYS)('$what keeps nobody from submitting; the jobs run within 30 s of its end', async ({ act }) => {
    await berth.client.ended(await submit())
    const acting = act()
    await sleep(100)
    const asked = performance.now()
    const ids = [await submit(), await submit()]
    expect(performance.now() - asked).toBeLessThan(2_000)
    await acting
    const back = performance.now()
    await expectRanOnce(berth, ids, 'done\n')
    console.log(`jobs over ${Math.round(performance.now() - back)} ms after the line was silent`)
    expect(performance.now() - back).toBeLessThan(30_000)
    await berth.untilClean()
  })
})
