import { randomBytes } from 'node:crypto'
import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { appendLog, logSizes } from '../../../src/db/statements/append-log.ts'
import { readLogs, type ReadLogsOptions } from '../../../src/services/logs/read-logs.ts'
import { sweepOldOutput } from '../../../src/services/logs/sweep-old-output.ts'
import { workOnOutput } from '../../../src/services/logs/work-on-output.ts'
import { getJob } from '../../../src/services/jobs/get-job.ts'
import { submitJob } from '../../../src/services/jobs/submit-job.ts'
import { sweepEndedJobs } from '../../../src/services/jobs/sweep-ended-jobs.ts'
import { StoreError } from '../../../src/stores/object-store.ts'
import { FakeScheduler } from '../../fakes/fake-scheduler.ts'
import { archive } from '../../support/archive.ts'
import { createTestBerth, type TestBerth } from '../../support/berth.ts'
import { ANYTHING } from '../../support/capabilities.ts'
import { requirePostgres } from '../../support/requirements.ts'

const project = 'default'
const KIB = 1024
const never = new AbortController().signal

describe.skipIf(requirePostgres().missing)('the output of a job that has ended', () => {
  let berth: TestBerth
  beforeAll(async () => {
    berth = await createTestBerth({ fake: new FakeScheduler(ANYTHING) })
  })
  afterAll(() => berth.stop())

  interface Ended {
    readonly id: string
    readonly attemptId: string
    readonly output: Buffer
  }

  /** A job that ended so many days ago, with an output of that size on stdout that nothing can shrink. */
  async function ended({ bytes = 20 * KIB, days = 0 } = {}): Promise<Ended> {
    const request = { scheduler: 'fake', roles: [{ name: 'main', command: ['true'] }] }
    const { id } = (await submitJob(berth.deps, { project, request, idempotency: null })).job
    const { rows } = await berth.deps.pool.query<{ id: string }>('SELECT id FROM attempt WHERE job_id = $1', [id])
    const attemptId = rows[0]?.id ?? ''
    const output = randomBytes(bytes)
    await append(attemptId, output)
    await berth.deps.pool.query(
      `WITH over AS (UPDATE attempt SET removed_at = now(), due_at = NULL WHERE id = $2)
       UPDATE job SET ended_at = now() - $3::int * interval '1 day' WHERE id = $1`,
      [id, attemptId, days],
    )
    return { id, attemptId, output }
  }
  async function append(attemptId: string, output: Buffer): Promise<void> {
    const owner = { attemptId, role: 'main', index: 0 }
    for (let at = 0; at < output.length; at += 256 * KIB) {
      const { stdout: start } = await logSizes(berth.deps.pool, owner)
      await appendLog(berth.deps.pool, owner, [{ stream: 'stdout', start, bytes: output.subarray(at, at + 256 * KIB) }])
    }
  }
  async function outputOf({ id }: Ended, options: Partial<ReadLogsOptions> = {}): Promise<Buffer> {
    const parts: Uint8Array[] = []
    for await (const { bytes } of readLogs(berth.deps, { project, id, options: { follow: false, ...options }, signal: never })) {
      parts.push(bytes)
    }
    return Buffer.concat(parts)
  }
  async function rowsOf(table: 'log_segment' | 'log_block' | 'log_stream' | 'log_work', { attemptId }: Ended): Promise<number> {
    return (await berth.deps.pool.query(`SELECT FROM ${table} WHERE attempt_id = $1`, [attemptId])).rowCount ?? 0
  }
  const folderOf = ({ attemptId }: Ended): string => join(berth.drives, 'logs', 'data', attemptId)
  const objectsOf = async (job: Ended): Promise<string[]> =>
    (await readdir(folderOf(job), { recursive: true }).catch((): string[] => [])).filter((name) => name.endsWith('.gz')).toSorted()
  const makeDue = ({ attemptId }: Ended) =>
    berth.deps.pool.query(`UPDATE log_work SET due_at = now() - interval '1 second' WHERE attempt_id = $1`, [attemptId])

  it('moves into objects of 4 MiB, and is the same at every cursor as before', async () => {
    const job = await ended({ bytes: 9 * 1024 * KIB })
    const cursors: { passed: number; cursor: string }[] = []
    let passed = 0
    for await (const record of readLogs(berth.deps, { project, id: job.id, options: { follow: false }, signal: never })) {
      cursors.push({ passed: passed + 7, cursor: record.cursorAt(7) })
      passed += record.bytes.length
    }
    await archive(berth.deps, job.attemptId)
    expect(await objectsOf(job)).toEqual(['main/0/1-16.gz', 'main/0/17-32.gz', 'main/0/33-36.gz'])
    expect([await rowsOf('log_segment', job), await rowsOf('log_block', job), await rowsOf('log_work', job)]).toEqual([0, 3, 0])
    expect((await outputOf(job)).equals(job.output)).toBe(true)
    for (const { passed, cursor } of cursors.filter((_, number) => number % 7 === 1))
      expect((await outputOf(job, { cursor })).equals(job.output.subarray(passed))).toBe(true)
    const tail = job.output.toString('latin1').split('\n').slice(-30).join('\n')
    expect((await outputOf(job, { tail: 30 })).toString('latin1')).toBe(tail)
  })

  it('is read whole while it moves', async () => {
    const job = await ended({ bytes: 9 * 1024 * KIB })
    const reader = readLogs(berth.deps, { project, id: job.id, options: { follow: false }, signal: never })
    const parts: Uint8Array[] = []
    const moving = archive(berth.deps, job.attemptId)
    for await (const { bytes } of reader) parts.push(bytes)
    await moving
    expect(Buffer.concat(parts).equals(job.output)).toBe(true)
  })

  it('moves once where two workers are at it, and begins again where one has died before the rows were gone', async () => {
    const job = await ended({ bytes: 5 * 1024 * KIB })
    const { logs } = berth.deps.stores
    const died = {
      ...logs,
      write: (...args: Parameters<typeof logs.write>) => logs.write(...args).then(() => Promise.reject(new Error('dead'))),
    }
    await expect(archive({ ...berth.deps, stores: { ...berth.deps.stores, logs: died } }, job.attemptId)).rejects.toThrow('dead')
    expect([await rowsOf('log_segment', job), (await objectsOf(job)).length]).toEqual([20, 1])
    await Promise.all([1, 2].map(() => makeDue(job).then(() => workOnOutput(berth.deps, never))))
    expect(await objectsOf(job)).toEqual(['main/0/1-16.gz', 'main/0/17-20.gz'])
    expect((await outputOf(job)).equals(job.output)).toBe(true)
  })

  it('stays in the database while the store takes nothing', async () => {
    const job = await ended()
    const away = { ...berth.deps.stores.logs, write: () => Promise.reject(new StoreError('unavailable', 'no answer')) }
    await expect(archive({ ...berth.deps, stores: { ...berth.deps.stores, logs: away } }, job.attemptId)).rejects.toThrow('no answer')
    expect((await outputOf(job)).equals(job.output)).toBe(true)
    await makeDue(job)
    await workOnOutput(berth.deps, never)
    expect([await rowsOf('log_segment', job), await rowsOf('log_block', job)]).toEqual([0, 1])
  })

  it('gives the operator the name of an object that is lost or damaged, and the client no 404', async () => {
    const job = await ended()
    await archive(berth.deps, job.attemptId)
    const [name = ''] = await objectsOf(job)
    const message = expect.stringContaining(name) as string
    await writeFile(join(folderOf(job), name), 'something else')
    await expect(outputOf(job)).rejects.toMatchObject({ code: 'store_failed', message })
    await rm(join(folderOf(job), name))
    await expect(outputOf(job)).rejects.toMatchObject({ code: 'store_failed', message })
  })

  it('goes after its days, rows and objects, and says so; the job stays', async () => {
    const [old, young] = [await ended({ days: 8 }), await ended({ days: 6 })]
    for (const { attemptId } of [old, young]) await archive(berth.deps, attemptId)
    await append(old.attemptId, randomBytes(1))
    await sweepOldOutput({ ...berth.deps, keepOutput: { days: 7, bytes: null } }, never)
    await expect(outputOf(old)).rejects.toMatchObject({ code: 'output_removed', status: 410 })
    for (const table of ['log_segment', 'log_block', 'log_stream'] as const) expect(await rowsOf(table, old)).toBe(0)
    expect((await objectsOf(old)).length).toBe(1)
    await makeDue(old)
    await workOnOutput(berth.deps, never)
    expect([await objectsOf(old), await rowsOf('log_work', old)]).toEqual([[], 0])
    expect((await outputOf(young)).equals(young.output)).toBe(true)
    expect((await getJob(berth.deps, { project, id: old.id })).id).toBe(old.id)
  })

  it('goes when a project has more than its bytes, what ended first before the rest', async () => {
    await sweepOldOutput({ ...berth.deps, keepOutput: { days: null, bytes: 0 } }, never)
    const [first, second, third] = [await ended({ days: 3 }), await ended({ days: 2 }), await ended({ days: 1 })]
    await sweepOldOutput({ ...berth.deps, keepOutput: { days: null, bytes: 45 * KIB } }, never)
    await expect(outputOf(first)).rejects.toMatchObject({ code: 'output_removed' })
    for (const job of [second, third]) expect((await outputOf(job)).equals(job.output)).toBe(true)
    await sweepOldOutput({ ...berth.deps, keepOutput: { days: null, bytes: 15 * KIB } }, never)
    for (const job of [second, third]) await expect(outputOf(job)).rejects.toMatchObject({ code: 'output_removed' })
  })

  it('goes with the job, and is not brought back by a worker that has slept', async () => {
    const job = await ended({ days: 31 })
    const { logs } = berth.deps.stores
    const slow = {
      ...logs,
      write: async (...args: Parameters<typeof logs.write>) => {
        await sweepEndedJobs(berth.deps, never)
        return logs.write(...args)
      },
    }
    await archive({ ...berth.deps, stores: { ...berth.deps.stores, logs: slow } }, job.attemptId)
    expect([await rowsOf('log_segment', job), await rowsOf('log_block', job), await objectsOf(job)]).toEqual([0, 0, []])
  })
})
