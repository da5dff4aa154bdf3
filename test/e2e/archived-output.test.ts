import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBucketStore, type TestStore } from '../support/bucket-store.ts'
import { eventually } from '../support/eventually.ts'
import { firstDifference } from '../support/first-difference.ts'
import { Installation } from '../support/installation.ts'
import { requirePostgres, requireS3Server } from '../support/requirements.ts'

const STORES = [
  { kind: 'a directory', need: requirePostgres(), start: async (): Promise<TestStore> => ({ env: {}, stop: async () => undefined }) },
  {
    kind: 'a bucket',
    need: requireS3Server(),
    start: startBucketStore,
  },
]

describe.each(STORES)('output that was moved to $kind', ({ need, start }) => {
  describe.skipIf(need.missing)('after the end', () => {
    let berth: Installation
    let store: TestStore
    beforeAll(async () => {
      store = await start('program' in need ? need.program : '')
      berth = await Installation.create({ env: store.env })
      await berth.start()
    })
    afterAll(async () => {
      await berth.dispose()
      await store.stop()
    })

    it('has the same address and bytes, and takes the cursors that were given while the job ran', async () => {
      const script = 'for i in $(seq 20000); do echo a line of output, number $i; done; sleep 1; echo end >&2'
      const { id } = await berth.client.submit({ scheduler: 'local', roles: [{ command: ['sh', '-c', script] }] })
      const live = await berth.client.open(`/v1/jobs/${id}/logs?follow=true`, { headers: { accept: 'application/x-ndjson' } })
      const lines = (await live.text())
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { text: string; cursor: string })
      expect(lines.length).toBe(20_001)
      const whole = await berth.client.log(id)

      const { pool } = berth.database
      await eventually(
        async () => (await pool.query(`UPDATE log_work SET due_at = now() - interval '1 second'`)).rowCount,
        (noted) => noted === 1,
      )
      await eventually(
        async () => (await pool.query('SELECT FROM log_work')).rowCount,
        (left) => left === 0,
        15,
      )
      expect((await pool.query('SELECT FROM log_segment')).rowCount).toBe(0)

      expect(firstDifference(await berth.client.log(id), whole)).toBeNull()
      for (const at of [0, 9_999, 19_999]) {
        const rest = await berth.client.log(id, `cursor=${lines[at]?.cursor ?? ''}`)
        expect(rest.toString()).toBe(
          lines
            .slice(at + 1)
            .map(({ text }) => `${text}\n`)
            .join(''),
        )
      }
      expect((await berth.client.log(id, 'tail=2&stream=stdout')).toString()).toBe(
        'a line of output, number 19999\na line of output, number 20000\n',
      )
      expect((await berth.client.log(id, 'follow=true&stream=stderr')).toString()).toBe('end\n')
    })
  })
})
