import type { LogStream } from '../../domain/attempt.ts'
import type { LogRecord } from '../../domain/job-view.ts'
import { LogPosition } from './log-position.ts'
import type { ServiceDeps } from '../service-deps.ts'
import type { LogOwner } from '../../db/statements/append-log.ts'
import type { LogSegment } from './log-block.ts'
import { segmentsAfter, segmentsBackwards, type SegmentFilter } from './stored-segments.ts'

/** Which output of an attempt is wanted. */
export interface LogFilter extends SegmentFilter {
  readonly role?: string | undefined
  readonly replica?: number | undefined
}

export interface LogPart {
  readonly attemptId: string
  readonly position: LogPosition
  readonly filter: LogFilter
}

const NEWLINE = 0x0a

const REPLICAS = `SELECT DISTINCT role, index FROM log_stream WHERE attempt_id = $1
AND ($2::text IS NULL OR role = $2) AND ($3::int IS NULL OR index = $3) ORDER BY role, index`

/** Everything that is stored after the position, which moves along. */
export async function* readSegments(deps: ServiceDeps, { attemptId, position, filter }: LogPart): AsyncGenerator<LogRecord> {
  for (const replica of await replicasOf(deps, attemptId, filter)) {
    for await (const segment of segmentsAfter(deps, { replica, filter, position })) yield recordOf(segment, { replica, position })
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
    for (const { stream, size } of await sizesOf(deps, replica)) position.advance(replica.role, replica.index, stream, size)
    await walkBack(segmentsBackwards(deps, { replica, filter }), { replica, position }, lines)
  }
  return position
}

/** Moves the position of one replica back over its segments until `lines` lines lie behind it. */
async function walkBack(segments: AsyncIterable<LogSegment>, { replica, position }: Reading, lines: number): Promise<void> {
  let left = lines
  let isLast = true
  if (left === 0) return
  for await (const { stream, start, bytes } of segments) {
    if (isLast && bytes.at(-1) === NEWLINE) left += 1
    isLast = false
    let cut = bytes.length
    while (left > 0 && cut > 0) {
      cut = bytes.lastIndexOf(NEWLINE, cut - 1)
      if (cut >= 0) left -= 1
    }
    position.advance(replica.role, replica.index, stream, start + (left > 0 ? 0 : cut + 1))
    if (left === 0) return
  }
}

interface Reading {
  readonly replica: LogOwner
  readonly position: LogPosition
}

async function replicasOf(deps: ServiceDeps, attemptId: string, filter: LogFilter): Promise<LogOwner[]> {
  const values = [attemptId, filter.role ?? null, filter.replica ?? null]
  const { rows } = await deps.pool.query<{ role: string; index: number }>({ name: 'log_replicas', text: REPLICAS, values })
  return rows.map((row) => ({ attemptId, ...row }))
}

async function sizesOf(deps: ServiceDeps, { attemptId, role, index }: LogOwner) {
  const text = 'SELECT stream, size FROM log_stream WHERE attempt_id = $1 AND role = $2 AND index = $3'
  const { rows } = await deps.pool.query<{ stream: LogStream; size: number }>(text, [attemptId, role, index])
  return rows
}

/** The part of a segment that the position has not passed; the position passes it. */
function recordOf({ stream, start, bytes, at }: LogSegment, { replica: { role, index }, position }: Reading): LogRecord {
  const from = Math.max(start, position.offset(role, index, stream))
  const before = position.copy()
  position.advance(role, index, stream, start + bytes.length)
  return {
    attempt: position.attempt,
    role,
    replica: index,
    stream,
    at: at.toISOString(),
    bytes: bytes.subarray(from - start),
    cursorAt: (passed) => before.cursorAt(role, index, stream, from + passed),
  }
}
