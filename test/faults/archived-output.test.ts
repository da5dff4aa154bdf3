import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { Installation } from '../support/installation.ts'
import { requirePostgres, requireProgram } from '../support/requirements.ts'
import { POINTS_OF_ARCHIVE } from './crash-cases.ts'

const needs = [requirePostgres(), requireProgram('bwrap')]
const EXPECTED = Array.from({ length: 20_000 }, (_, at) => `line ${at + 1}\n`).join('')

describe.skipIf(needs.some(({ missing }) => missing))('the output of an ended job', () => {
  let berth: Installation
  beforeAll(async () => {
    berth = await Installation.create({})
    await berth.start({ serve: 'api' })
  })
  afterAll(() => berth.dispose())

  const count = async (table: string): Promise<number> => (await berth.database.pool.query(`SELECT FROM ${table}`)).rowCount ?? 0
  const makeDue = async (): Promise<number> =>
    (await berth.database.pool.query(`UPDATE log_work SET due_at = now() - interval '1 second'`)).rowCount ?? 0
  const objects = async (): Promise<string[]> =>
    (await readdir(join(berth.dataDir, 'drives/logs/data'), { recursive: true })).filter((name) => name.endsWith('.gz'))

  it.each(POINTS_OF_ARCHIVE)(
    'whose worker is killed at %s is read whole then, and is where it belongs after the next worker',
    async (point) => {
      const worker = await berth.start({ serve: 'worker', crashPoint: point })
      const script = 'for i in $(seq 20000); do echo line $i; done'
      const { id } = await berth.client.submit({ scheduler: 'local', roles: [{ command: ['sh', '-c', script] }] })
      await berth.client.ended(id)
      await eventually(makeDue, (noted) => noted === 1)
      await eventually(
        () => worker.alive(),
        (alive) => !alive,
      )
      expect((await berth.client.log(id)).toString()).toBe(EXPECTED)
      expect(await makeDue()).toBe(1)
      const next = await berth.start({ serve: 'worker' })
      await eventually(
        () => count('log_work'),
        (left) => left === 0,
      )
      expect((await berth.client.log(id)).toString()).toBe(EXPECTED)
      expect([await count('log_segment'), (await objects()).length]).toEqual([0, await count('log_block')])
      await next.stop()
    },
  )
})
