import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { appendLog, logSizes, type LogPiece } from '../../../src/db/statements/append-log.ts'
import type { LogRecord } from '../../../src/domain/job-view.ts'
import { readLogs, type ReadLogsOptions } from '../../../src/services/logs/read-logs.ts'
import { submitJob } from '../../../src/services/jobs/submit-job.ts'
import { FakeScheduler } from '../../fakes/fake-scheduler.ts'
import { createTestBerth, type TestBerth } from '../../support/berth.ts'
import { archive } from '../../support/archive.ts'
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
  const request = { scheduler: 'fake', roles: [{ name: 'main', command: ['true'], replicas: 2 }] }
  id = (await submitJob(berth.deps, { project, request, idempotency: null })).job.id
  const { rows } = await berth.deps.pool.query<{ id: string }>('SELECT id FROM attempt WHERE job_id = $1', [id])
  attemptId = rows[0]?.id ?? ''
})

const owner = (index = 0) => ({ attemptId, role: 'main', index })
const piece = (stream: 'stdout' | 'stderr', start: number, text: string | Buffer): LogPiece => ({ stream, start, bytes: Buffer.from(text) })

/** Where what has been appended so far is from now on: as rows, as a block, or the first piece of it as a block. */
type Form = 'rows' | 'blocks' | 'half a block'
const FORMS: readonly Form[] = ['rows', 'blocks', 'half a block']

async function append(form: Form, replica: ReturnType<typeof owner>, pieces: readonly LogPiece[]): Promise<void> {
  const first = form === 'half a block' ? 1 : pieces.length
  await appendLog(berth.deps.pool, replica, pieces.slice(0, first))
  if (form !== 'rows') await archive(berth.deps, replica.attemptId)
  if (first < pieces.length) await appendLog(berth.deps.pool, replica, pieces.slice(first))
}

async function read(options: Partial<ReadLogsOptions> = {}): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  const signal = AbortSignal.timeout(10_000)
  for await (const record of readLogs(berth.deps, { project, id, options: { follow: false, ...options }, signal })) records.push(record)
  return records
}
const text = (records: LogRecord[]): string => Buffer.concat(records.map(({ bytes }) => bytes)).toString()

describe.each(FORMS)('stored output, as %s,', (form) => {
  it('is given in the order in which the streams alternated', async () => {
    await append(form, owner(), [piece('stdout', 0, 'a\n'), piece('stderr', 0, 'b\n'), piece('stdout', 2, 'c\n')])
    expect(text(await read())).toBe('a\nb\nc\n')
    expect(text(await read({ stream: 'stdout' }))).toBe('a\nc\n')
    expect(text(await read({ stream: 'stderr' }))).toBe('b\n')
  })

  it('is not stored twice, nor with a hole, by readers that run at once', async () => {
    const bytes = randomBytes(100_000)
    const copy = async (): Promise<void> => {
      for (;;) {
        const from = (await logSizes(berth.deps.pool, owner())).stdout
        if (from >= bytes.length) return
        await appendLog(berth.deps.pool, owner(), [piece('stdout', from, bytes.subarray(from, from + 1_000))])
      }
    }
    const moved = form === 'rows' ? [] : [archive(berth.deps, attemptId)]
    await Promise.all([copy(), copy(), copy(), ...moved])
    expect(Buffer.concat((await read()).map((record) => record.bytes)).equals(bytes)).toBe(true)
  })

  it('is taken up again at any byte, in both streams', async () => {
    await append(form, owner(), [piece('stdout', 0, 'one\ntwo\n'), piece('stderr', 0, 'three\n'), piece('stdout', 8, 'four\n')])
    await append(form, owner(1), [piece('stdout', 0, 'five\n')])
    const all = text(await read())
    let passed = ''
    for (const record of await read()) {
      for (let bytes = 0; bytes <= record.bytes.length; bytes += 1) {
        const before = passed + Buffer.from(record.bytes.subarray(0, bytes)).toString()
        expect(before + text(await read({ cursor: record.cursorAt(bytes) }))).toBe(all)
      }
      passed += Buffer.from(record.bytes).toString()
    }
  })

  it.each([
    [1, 'five\n'],
    [2, 'four\nfive\n'],
    [3, 'three\nfour\nfive\n'],
    [9, 'one\ntwo\nthree\nfour\nfive\n'],
    [0, ''],
  ])('begins with its last %i lines when asked', async (tail, expected) => {
    await append(form, owner(), [piece('stdout', 0, 'one\ntwo\nth'), piece('stdout', 10, 'ree\n'), piece('stderr', 0, 'four\nfive\n')])
    expect(text(await read({ tail }))).toBe(expected)
  })

  it('counts a last line without an end as a line', async () => {
    await append(form, owner(), [piece('stdout', 0, 'one\ntwo\nthree')])
    expect(text(await read({ tail: 2 }))).toBe('two\nthree')
  })

  it('is narrowed to one replica', async () => {
    await append(form, owner(0), [piece('stdout', 0, 'zero\n')])
    await append(form, owner(1), [piece('stdout', 0, 'one\n')])
    expect(text(await read({ role: 'main', replica: 1 }))).toBe('one\n')
    expect(text(await read({ role: 'other' }))).toBe('')
  })

  it('refuses a cursor that it did not give, and a job that there is not', async () => {
    await expect(read({ cursor: 'nonsense' })).rejects.toMatchObject({ code: 'malformed_request' })
    const options = { follow: false }
    const unknown = readLogs(berth.deps, { project, id: 'job_00000000000000000000000000', options, signal: AbortSignal.timeout(1_000) })
    await expect(unknown.next()).rejects.toMatchObject({ code: 'not_found' })
  })
})
