import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Installation } from '../support/installation.ts'
import { PLACES, requirePlaces, shellJob } from '../support/places.ts'
import { expectRanOnce } from '../support/ran-once.ts'
import { requireProgram } from '../support/requirements.ts'

const need = [requirePlaces(), requireProgram('faketime')]
const { host } = requirePlaces()
const LIBRARY = ['x86_64', 'aarch64'].map((arch) => `/usr/lib/${arch}-linux-gnu/faketime/libfaketime.so.1`).find((path) => existsSync(path))

/** A process whose calendar is wrong, and whose stopwatch is right: as a machine whose clock nobody sets. */
const wrongBy = (offset: string): Record<string, string> => ({
  LD_PRELOAD: LIBRARY ?? '',
  FAKETIME: offset,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
})

describe.skipIf(need.some(({ missing }) => missing)).each(['+10m', '-10m'])('a worker whose clock is wrong by %s (case 34)', (offset) => {
  let berth: Installation

  beforeAll(async () => {
    berth = await Installation.create({ dockerHost: host })
    await berth.start({ serve: 'api' })
  })
  afterAll(() => berth.dispose())

  it('takes no claim away, loses none, and ends no job before its time or after it', async () => {
    const wrong = await berth.start({ serve: 'worker', env: wrongBy(offset) })
    await berth.start({ serve: 'worker' })
    const submit = (place: (typeof PLACES)[number], script: string, more: object = {}): Promise<{ id: string }> =>
      berth.client.submit(shellJob(berth, place, script, { ...more }))
    const jobs = await Promise.all(
      PLACES.flatMap((place) =>
        ['echo done', 'sleep 3; echo done'].flatMap((script) => Array.from({ length: 4 }, () => submit(place, script))),
      ),
    )
    const overdue = await Promise.all(PLACES.map((place) => submit(place, 'sleep 60', { timeoutSeconds: 3, graceSeconds: 0 })))
    await expectRanOnce(
      berth,
      jobs.map(({ id }) => id),
      'done\n',
    )
    for (const { id } of overdue) {
      const { createdAt, endedAt, ...job } = await berth.client.ended(id)
      expect(job).toMatchObject({ state: 'failed', reason: 'timed_out' })
      expect((Date.parse(endedAt ?? '') - Date.parse(createdAt)) / 1_000).toBeGreaterThanOrEqual(3)
    }
    await berth.untilClean()
    expect(Math.abs(Number(wrong.lines.at(-1)?.['time']) - Date.now())).toBeGreaterThan(9 * 60_000)
  })
})
