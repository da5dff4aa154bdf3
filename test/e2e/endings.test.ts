import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isTerminal } from '../../src/domain/job-state.ts'
import type { JobView } from '../../src/domain/job-view.ts'
import { Installation } from '../support/installation.ts'
import { PLACES, requirePlaces, shellJob } from '../support/places.ts'

const need = requirePlaces()
const RACES = 50

describe.skipIf(need.missing).concurrent.each(PLACES)('a job on %s', (place) => {
  let berth: Installation

  beforeAll(async () => {
    berth = await Installation.create({ dockerHost: need.host })
    await berth.start()
  })
  afterAll(async () => {
    try {
      await berth.untilClean()
    } finally {
      await berth.dispose()
    }
  })

  const submit = (script: string, more: object = {}): Promise<JobView> => berth.client.submit(shellJob(berth, place, script, { ...more }))
  const exitCodes = (job: JobView): (number | null)[] => job.attempts.at(-1)?.roles[0]?.replicas.map(({ exitCode }) => exitCode) ?? []

  it('that fails is tried again as often as it may, each time later, and each attempt keeps its own end', async () => {
    const { id } = await submit('exit $((BERTH_ATTEMPT + 10))', { retries: { max: 2, backoffSeconds: 1 } })
    const job = await berth.client.ended(id)
    expect(job).toMatchObject({ state: 'failed', reason: 'executor_error' })
    expect(job.attempts.map(({ roles }) => roles[0]?.replicas[0]?.exitCode)).toEqual([11, 12, 13])
    expect(await berth.starts(id)).toEqual(['1/main/0', '2/main/0', '3/main/0'])
    const queued = (await berth.client.events(id))
      .filter(({ type }) => type === 'job.queued' || type === 'job.starting')
      .map(({ at }) => Date.parse(at))
    const waits = [2, 4].map((at) => (queued[at + 1] ?? 0) - (queued[at] ?? 0))
    expect(waits[0]).toBeGreaterThanOrEqual(790)
    expect(waits[1]).toBeGreaterThanOrEqual(1_590)
  })

  it('that succeeds at the second attempt has succeeded', async () => {
    const { id } = await submit('[ "$BERTH_ATTEMPT" = 2 ]', { retries: { max: 5, backoffSeconds: 0 } })
    expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded', attempts: [{ state: 'failed' }, { state: 'succeeded' }] })
  })

  it('that runs longer than it may is ended, and is not tried again', async () => {
    const { id } = await submit('sleep 60', { timeoutSeconds: 1, graceSeconds: 1, retries: { max: 3, backoffSeconds: 0 } })
    const job = await berth.client.ended(id)
    expect(job).toMatchObject({ state: 'failed', reason: 'timed_out', attempts: [{ number: 1 }] })
    expect(Date.parse(job.endedAt ?? '') - Date.parse(job.startedAt ?? '')).toBeLessThan(8_000)
  })

  it('of several replicas ends them all at the first failure, and tells whose it was', async () => {
    const { id } = await submit('[ "$BERTH_REPLICA" = 1 ] && { sleep 1; exit 5; }; sleep 60', { replicas: 3, graceSeconds: 0 })
    const job = await berth.client.ended(id)
    expect(job).toMatchObject({ state: 'failed', reason: 'executor_error', detail: expect.stringContaining('main/1') })
    expect(exitCodes(job)[1]).toBe(5)
    for (const at of [0, 2]) expect([137, 143]).toContain(exitCodes(job)[at])
  })

  it('of several replicas that are to wait lets the others come to their own end', async () => {
    const { id } = await submit('[ "$BERTH_REPLICA" = 1 ] && exit 5; sleep 2; echo end >> /truth/$BERTH_JOB_ID.ends', {
      replicas: 3,
      onReplicaFailure: 'wait',
    })
    const job = await berth.client.ended(id)
    expect(job).toMatchObject({ state: 'failed', detail: expect.stringContaining('main/1') })
    expect(exitCodes(job)).toEqual([0, 5, 0])
    expect(await readFile(join(berth.truth, `${id}.ends`), 'utf8')).toBe('end\nend\n')
  })

  it(
    'that is canceled in whatever state ends as canceled, or as it truly did, and nothing of it runs on',
    { timeout: 60_000 },
    async () => {
      const script = 'trap "exit 0" TERM; for i in $(seq 100); do echo x >> /truth/$BERTH_JOB_ID.beats; sleep 0.1; done'
      for (const wait of [0, 5, 20, 50, 100, 200, 400, 800]) {
        const { id } = await submit(script, { graceSeconds: 1 })
        await sleep(wait)
        await berth.client.cancel(id)
        await berth.client.cancel(id)
        expect(await berth.client.ended(id)).toMatchObject({ state: 'canceled', attempts: [{ number: 1 }] })
        await berth.client.events(id)
        const beats = await readFile(join(berth.truth, `${id}.beats`), 'utf8').catch(() => '')
        await sleep(150)
        expect(await readFile(join(berth.truth, `${id}.beats`), 'utf8').catch(() => '')).toBe(beats)
        expect((await berth.starts(id)).length).toBeLessThanOrEqual(1)
      }
    },
  )

  it('that is canceled while it waits for its next attempt is canceled and not tried again', async () => {
    const { id } = await submit('exit 1', { retries: { max: 3, backoffSeconds: 30 } })
    await berth.client.until(id, ({ state, attempts }) => state === 'queued' && attempts.length === 2)
    await berth.client.cancel(id)
    expect(await berth.client.ended(id, 5)).toMatchObject({ state: 'canceled' })
    expect(await berth.starts(id)).toEqual(['1/main/0'])
  })

  it('that has ended cannot be canceled any more', async () => {
    const { id } = await submit('true')
    await berth.client.ended(id)
    expect(await berth.client.request('POST', `/v1/jobs/${id}/cancel`)).toMatchObject({ status: 409, body: { code: 'wrong_state' } })
  })

  it(`that is canceled in the moment of its end has one end, the true one, ${RACES} times (case 32)`, { timeout: 120_000 }, async () => {
    const race = async (round: number): Promise<string> => {
      const { id } = await submit('sleep 0.4; echo end >> /truth/$BERTH_JOB_ID.ends', { graceSeconds: 0 })
      await berth.client.until(id, ({ state }) => state === 'running' || isTerminal(state))
      await sleep(8 * round)
      await berth.client.request('POST', `/v1/jobs/${id}/cancel`)
      const { state } = await berth.client.ended(id)
      await berth.client.events(id)
      const came = await readFile(join(berth.truth, `${id}.ends`), 'utf8').catch(() => '')
      if (state === 'succeeded') expect(came).toBe('end\n')
      return state
    }
    const ends: string[] = []
    for (let round = 0; round < RACES; round += 5) ends.push(...(await Promise.all([0, 1, 2, 3, 4].map((at) => race(round + at)))))
    const count = (state: string): number => ends.filter((end) => end === state).length
    console.log(`${place}: of ${RACES} races ${count('succeeded')} succeeded, ${count('canceled')} canceled`)
    expect(count('succeeded') + count('canceled')).toBe(RACES)
  })
})
