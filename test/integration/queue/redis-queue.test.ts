import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createDoorbellQueue, type DoorbellQueue } from '../../../src/queue/doorbell-queue.ts'
import { startTestRedis, type TestRedis } from '../../support/redis.ts'
import { requireRedis } from '../../support/requirements.ts'

const redisThere = requireRedis()

describe.skipIf(redisThere.missing)('doorbells over Redis', () => {
  let redis: TestRedis
  let queue: DoorbellQueue
  const answered: string[] = []

  beforeAll(async () => {
    redis = await startTestRedis()
    queue = createDoorbellQueue({ kind: 'redis', url: redis.url }, 'berth-test', pino({ level: 'silent' }))
    queue.listen(2, async ({ attemptId }) => void answered.push(attemptId))
  })
  afterAll(async () => {
    await queue.close()
    await redis.stop()
  })

  it('are answered when they are rung right after the start', async () => {
    await queue.ring([{ attemptId: 'att_first', scheduler: 'local', ring: '1' }])
    await vi.waitFor(() => expect(answered).toContain('att_first'), 5_000)
  })

  it('fail within seconds while Redis is away, and are answered again once it is back, empty', async () => {
    await redis.kill()
    const begin = performance.now()
    await expect(queue.ring([{ attemptId: 'att_lost', scheduler: 'local', ring: '1' }])).rejects.toBeInstanceOf(Error)
    expect(performance.now() - begin).toBeLessThan(5_000)
    await redis.start()
    await vi.waitFor(() => queue.ring([{ attemptId: 'att_back', scheduler: 'local', ring: '1' }]), { timeout: 10_000, interval: 200 })
    await vi.waitFor(() => expect(answered).toContain('att_back'), 10_000)
  })

  it('are answered after a start without Redis', async () => {
    await redis.kill()
    const early = createDoorbellQueue({ kind: 'redis', url: redis.url }, 'berth-early', pino({ level: 'silent' }))
    const heard: string[] = []
    early.listen(1, async ({ attemptId }) => void heard.push(attemptId))
    await expect(early.ring([{ attemptId: 'att_none', scheduler: 'local', ring: '1' }])).rejects.toBeInstanceOf(Error)
    await redis.start()
    await vi.waitFor(() => early.ring([{ attemptId: 'att_late', scheduler: 'local', ring: '1' }]), { timeout: 10_000, interval: 200 })
    await vi.waitFor(() => expect(heard).toContain('att_late'), 10_000)
    await early.close()
  })
})
