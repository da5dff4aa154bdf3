import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { claimAttempt, markAttempt, releaseClaim, renewClaim, type Claim } from '../../../src/db/statements/claim-attempt.ts'
import { takeDue } from '../../../src/db/statements/doorbells.ts'
import { takeLease } from '../../../src/db/statements/lease.ts'
import { getJob } from '../../../src/services/jobs/get-job.ts'
import { listEvents } from '../../../src/services/jobs/list-events.ts'
import { submitJob } from '../../../src/services/jobs/submit-job.ts'
import { noteProgress, transition } from '../../../src/services/attempts/transition.ts'
import { FakeScheduler } from '../../fakes/fake-scheduler.ts'
import { createTestBerth, type TestBerth } from '../../support/berth.ts'
import { ANYTHING } from '../../support/capabilities.ts'

const project = 'default'
let berth: TestBerth
let id: string
let attemptId: string

beforeAll(async () => {
  berth = await createTestBerth({ fake: new FakeScheduler(ANYTHING) })
})
afterAll(() => berth.stop())

beforeEach(async () => {
  const request = { scheduler: 'fake', roles: [{ name: 'main', command: ['true'] }] }
  id = (await submitJob(berth.deps, { project, request, idempotency: null })).job.id
  attemptId = (await berth.deps.pool.query<{ id: string }>('SELECT id FROM attempt WHERE job_id = $1', [id])).rows[0]?.id ?? ''
})

const claim = async (owner = 'one'): Promise<Claim> => {
  const claimed = await claimAttempt(berth.deps.pool, attemptId, owner)
  if (!claimed) throw new Error('not claimed')
  return claimed
}
/** As if the worker had died and its lease had run out. */
const expire = () =>
  berth.deps.pool.query(`UPDATE attempt SET lease_until = now() - interval '1 second', due_at = now() WHERE id = $1`, [attemptId])

const ROUNDS = 1_000

describe('a claim', () => {
  it('is given to one of many workers that ask at once, each time (case 14)', async () => {
    const epochs: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      const claims = await Promise.all(Array.from({ length: 8 }, (_, index) => claimAttempt(berth.deps.pool, attemptId, `worker-${index}`)))
      epochs.push(...claims.flatMap((claimed) => claimed?.epoch ?? []))
      await expire()
    }
    expect(epochs).toEqual(Array.from({ length: ROUNDS }, (_, round) => round + 1))
  })

  it('of an epoch that is over can neither be renewed nor change anything', async () => {
    const old = await claim('old')
    await expire()
    const next = await claim('new')
    expect(next.epoch).toBe(old.epoch + 1)
    expect(await renewClaim(berth.deps.pool, old)).toBe(false)
    expect(await markAttempt(berth.deps.pool, old, 'submitting')).toBe(false)
    expect(await transition(berth.deps, 'starting', { attemptId, epoch: old.epoch })).toBeNull()
    await releaseClaim(berth.deps.pool, old, null)
    expect(await renewClaim(berth.deps.pool, next)).toBe(true)
  })

  it('that is released without a time is not due again until somebody wakes it', async () => {
    await releaseClaim(berth.deps.pool, await claim(), null)
    expect(await claimAttempt(berth.deps.pool, attemptId, 'two')).toBeNull()
    await transition(berth.deps, 'canceling', { attemptId, stopReason: 'canceled', wake: true })
    expect((await claim('two')).stopReason).toBe('canceled')
  })

  it('sees at its release that it was woken meanwhile', async () => {
    const held = await claim()
    await transition(berth.deps, 'canceling', { attemptId, stopReason: 'canceled', wake: true })
    expect(await releaseClaim(berth.deps.pool, held, null)).toBe(true)
    await claim('two')
  })

  it.each(['renewed', 'released'] as const)('does not forget a wake-up that came after it began to be %s, and was first', async (act) => {
    const held = await claim()
    const client = await berth.deps.pool.connect()
    try {
      // From here on this connection's now() lies before the wake-up.
      await client.query('BEGIN')
      await client.query('SELECT now()')
      await transition(berth.deps, 'canceling', { attemptId, stopReason: 'canceled', wake: true })
      if (act === 'renewed') expect(await renewClaim(client as never, held)).toBe(true)
      else expect(await releaseClaim(client as never, held, null)).toBe(true)
      await client.query('COMMIT')
    } finally {
      client.release()
    }
    if (act === 'renewed') expect(await releaseClaim(berth.deps.pool, held, null)).toBe(true)
    await claim('two')
  })

  it('may not begin to submit what is to be stopped', async () => {
    const held = await claim()
    await transition(berth.deps, 'canceling', { attemptId, stopReason: 'canceled', wake: true })
    expect(await markAttempt(berth.deps.pool, held, 'submitting')).toBe(false)
  })

  it('is rung for again by the sweeper once its lease is over, ever more rarely', async () => {
    await claim()
    await expire()
    await berth.deps.pool.query('UPDATE attempt SET ring_at = now() WHERE id = $1', [attemptId])
    const first = await takeDue(berth.deps.pool, 1_000)
    expect(first.map((doorbell) => doorbell.attemptId)).toContain(attemptId)
    expect((await takeDue(berth.deps.pool, 1_000)).map((doorbell) => doorbell.attemptId)).not.toContain(attemptId)
  })
})

describe('a move of state', () => {
  it('is made once by many that try, with one event', async () => {
    const moves = await Promise.all(Array.from({ length: 20 }, () => transition(berth.deps, 'starting', { attemptId })))
    expect(moves.filter((moved) => moved !== null)).toEqual([{ jobId: id, sequence: 2, sent: false }])
    const { items } = await listEvents(berth.deps, { project, id, after: 0, limit: 100 })
    expect(items.map((event) => event.type)).toEqual(['job.queued', 'job.starting'])
  })

  it('back, or out of an end, is no move', async () => {
    await transition(berth.deps, 'running', { attemptId })
    expect(await transition(berth.deps, 'running', { attemptId })).toBeNull()
    await transition(berth.deps, 'starting', { attemptId })
    await transition(berth.deps, 'running', { attemptId })
    expect(await transition(berth.deps, 'pending', { attemptId })).toBeNull()
    await transition(berth.deps, 'finishing', { attemptId })
    await transition(berth.deps, 'succeeded', { attemptId })
    expect(await transition(berth.deps, 'failed', { attemptId })).toBeNull()
    expect(await transition(berth.deps, 'canceling', { attemptId })).toBeNull()
    expect((await getJob(berth.deps, { project, id })).state).toBe('succeeded')
  })

  it('of an attempt that was followed by another does not touch the job', async () => {
    await transition(berth.deps, 'starting', { attemptId })
    await transition(berth.deps, 'finishing', { attemptId })
    await transition(berth.deps, 'failed', { attemptId, reason: 'lost', nextAttempt: { id: `${attemptId}x`, delaySeconds: 60 } })
    expect(await transition(berth.deps, 'succeeded', { attemptId })).toBeNull()
    expect(await getJob(berth.deps, { project, id })).toMatchObject({
      state: 'queued',
      attempts: [{ state: 'failed', reason: 'lost' }, { state: 'queued' }],
    })
  })

  it('keeps the first outcome and the first reason to stop', async () => {
    await transition(berth.deps, 'starting', { attemptId })
    await transition(berth.deps, 'running', { attemptId })
    await noteProgress(berth.deps, 'running', { attemptId, stopReason: 'timed_out' })
    await transition(berth.deps, 'canceling', { attemptId, stopReason: 'canceled' })
    const { rows } = await berth.deps.pool.query('SELECT stop_reason FROM attempt WHERE id = $1', [attemptId])
    expect(rows).toEqual([{ stop_reason: 'timed_out' }])
  })
})

describe('a lease', () => {
  it('is held by one owner until it is over', async () => {
    expect(await takeLease(berth.deps.pool, 'watch:x', 'one')).toBe(true)
    expect(await takeLease(berth.deps.pool, 'watch:x', 'two')).toBe(false)
    expect(await takeLease(berth.deps.pool, 'watch:x', 'one')).toBe(true)
    await berth.deps.pool.query(`UPDATE lease SET until = now() - interval '1 second'`)
    expect(await takeLease(berth.deps.pool, 'watch:x', 'two')).toBe(true)
  })
})
