import type { LogStream } from '../../domain/attempt.ts'
import type { LogRecord } from '../../domain/job-view.ts'
import { LogPosition } from './log-position.ts'
import type { ServiceDeps } from '../service-deps.ts'

/** Which output of an attempt is wanted; what is left out does not narrow it. */
export interface LogFilter {
  readonly role?: string | undefined
  readonly replica?: number | undefined
  readonly stream?: LogStream | undefined
  /** Nothing that was read before this time. */
  readonly since?: Date | undefined
}

export interface LogPart {
  readonly attemptId: string
  readonly position: LogPosition
  readonly filter: LogFilter
}

/** Up to 4 MiB at a time. */
const BATCH = 16
const LAST_SEQ = 2 ** 31 - 1
const NEWLINE = 0x0a

const MATCHES = `
attempt_id = $1 AND ($2::text IS NULL OR role = $2) AND ($3::int IS NULL OR index = $3)
AND ($4::text IS NULL OR stream = $4) AND ($5::timestamptz IS NULL OR at >= $5)`

const REPLICAS = `SELECT DISTINCT role, index FROM log_stream WHERE attempt_id = $1
AND ($2::text IS NULL OR role = $2) AND ($3::int IS NULL OR index = $3) ORDER BY role, index`

const SEGMENTS = `
SELECT seq, stream, start, bytes, at FROM log_segment
WHERE ${MATCHES} AND seq > $6 AND start + length(bytes) > CASE stream WHEN 'stdout' THEN $7::int8 ELSE $8::int8 END
ORDER BY seq LIMIT ${BATCH}`

const BACKWARDS = `SELECT seq, stream, start, bytes, at FROM log_segment WHERE ${MATCHES} AND seq < $6 ORDER BY seq DESC LIMIT 1`

/** Everything that is stored after the position, which moves along. */
export async function* readSegments(deps: ServiceDeps, { attemptId, position, filter }: LogPart): AsyncGenerator<LogRecord> {
  for (const { role, index } of await replicasOf(deps, attemptId, filter)) {
    for (let after = 0; ; ) {
      const from = (['stdout', 'stderr'] as const).map((stream) => position.offset(role, index, stream))
      const values = [attemptId, role, index, filter.stream ?? null, filter.since ?? null, after, ...from]
      const { rows } = await deps.pool.query<SegmentRow>({ name: 'log_segments', text: SEGMENTS, values })
      for (const row of rows) yield recordOf(row, { role, index, position })
      if (rows.length < BATCH) break
      after = rows.at(-1)?.seq ?? after
    }
  }
}

/** Where the last `lines` lines of each replica begin. A line that is not ended yet counts as one. */
export async function tailPosition(
  deps: ServiceDeps,
  { attemptId, number, filter }: { attemptId: string; number: number; filter: LogFilter },
  lines: number,
): Promise<LogPosition> {
  const position = new LogPosition(number)
  for (const replica of await replicasOf(deps, attemptId, filter)) {
    for (const { stream, size } of await sizesOf(deps, attemptId, replica)) position.advance(replica.role, replica.index, stream, size)
    await walkBack(deps, { attemptId, position, filter: { ...filter, role: replica.role, replica: replica.index } }, lines)
  }
  return position
}

/** Moves the position of one replica back over its segments until `lines` lines lie behind it. */
async function walkBack(deps: ServiceDeps, { attemptId, position, filter }: LogPart, lines: number): Promise<void> {
  const { role = '', replica = 0 } = filter
  let left = lines
  for (let before = LAST_SEQ; left > 0; ) {
    const values = [attemptId, role, replica, filter.stream ?? null, filter.since ?? null, before]
    const { rows } = await deps.pool.query<SegmentRow>({ name: 'log_tail', text: BACKWARDS, values })
    const row = rows[0]
    if (!row) return
    if (before === LAST_SEQ && row.bytes.at(-1) === NEWLINE) left += 1
    let cut = row.bytes.length
    while (left > 0 && cut > 0) {
      cut = row.bytes.lastIndexOf(NEWLINE, cut - 1)
      if (cut >= 0) left -= 1
    }
    position.advance(role, replica, row.stream, row.start + (left > 0 ? 0 : cut + 1))
    before = row.seq
  }
}

interface SegmentRow {
  readonly seq: number
  readonly stream: LogStream
  readonly start: number
  readonly bytes: Buffer
  readonly at: Date
}

async function replicasOf(deps: ServiceDeps, attemptId: string, filter: LogFilter): Promise<{ role: string; index: number }[]> {
  const values = [attemptId, filter.role ?? null, filter.replica ?? null]
  const { rows } = await deps.pool.query<{ role: string; index: number }>({ name: 'log_replicas', text: REPLICAS, values })
  return rows
}

async function sizesOf(deps: ServiceDeps, attemptId: string, { role, index }: { role: string; index: number }) {
  const text = 'SELECT stream, size FROM log_stream WHERE attempt_id = $1 AND role = $2 AND index = $3'
  const { rows } = await deps.pool.query<{ stream: LogStream; size: number }>(text, [attemptId, role, index])
  return rows
}

/** The part of a segment that the position has not passed; the position passes it. */
function recordOf(row: SegmentRow, { role, index, position }: { role: string; index: number; position: LogPosition }): LogRecord {
  const { stream } = row
  const start = Math.max(row.start, position.offset(role, index, stream))
  const before = position.copy()
  position.advance(role, index, stream, row.start + row.bytes.length)
  return {
    attempt: position.attempt,
    role,
    replica: index,
    stream,
    at: row.at.toISOString(),
    bytes: row.bytes.subarray(start - row.start),
    cursorAt: (bytes) => before.cursorAt(role, index, stream, start + bytes),
  }
}
