import type { LogStream } from '../../domain/attempt.ts'
import type { LogOwner } from '../../db/statements/append-log.ts'
import { withStoreProblems } from '../objects/store-problem.ts'
import type { ServiceDeps } from '../service-deps.ts'
import type { LogSegment } from './log-block.ts'
import { readBlock } from './log-blocks.ts'
import type { LogPosition } from './log-position.ts'

/** Up to 4 MiB at a time. */
const BATCH = 16
const LAST_SEQ = 2 ** 31 - 1

const OF_REPLICA = 'attempt_id = $1 AND role = $2 AND index = $3'
const SEGMENTS = `
SELECT NULL::int AS "firstSeq", seq, stream, start, bytes, at FROM log_segment
WHERE ${OF_REPLICA} AND ($4::text IS NULL OR stream = $4) AND ($5::timestamptz IS NULL OR at >= $5)`
const BLOCK = `SELECT "firstSeq", "lastSeq", NULL, NULL::int8, NULL::bytea, NULL::timestamptz FROM block`

/**
 * One look, since segments may be moved into a block at any time: they are seen in the one place or in the other. Blocks
 * have the beginning of an output, so there are no segments before one.
 */
const FORWARDS = `
WITH block AS (
  SELECT first_seq AS "firstSeq", last_seq AS "lastSeq" FROM log_block
  WHERE ${OF_REPLICA} AND ($5::timestamptz IS NULL OR last_at >= $5) AND last_seq > $6
    AND (($4::text IS DISTINCT FROM 'stderr' AND stdout_end > $7) OR ($4::text IS DISTINCT FROM 'stdout' AND stderr_end > $8))
  ORDER BY first_seq LIMIT 1
), segment AS (
  ${SEGMENTS} AND seq > $6 AND start + length(bytes) > CASE stream WHEN 'stdout' THEN $7::int8 ELSE $8::int8 END
    AND NOT EXISTS (SELECT FROM block)
  ORDER BY seq LIMIT ${BATCH}
)
SELECT * FROM segment UNION ALL ${BLOCK} ORDER BY seq`

const BACKWARDS = `
WITH segment AS (
  ${SEGMENTS} AND seq < $6 ORDER BY seq DESC LIMIT 1
), block AS (
  SELECT first_seq AS "firstSeq", last_seq AS "lastSeq" FROM log_block
  WHERE ${OF_REPLICA} AND ($5::timestamptz IS NULL OR last_at >= $5) AND first_seq < $6 AND NOT EXISTS (SELECT FROM segment)
  ORDER BY first_seq DESC LIMIT 1
)
SELECT * FROM segment UNION ALL ${BLOCK}`

/** A segment; or, with `firstSeq`, a block that ends with the segment `seq`. */
type Row = ({ readonly firstSeq: null } & LogSegment) | { readonly firstSeq: number; readonly seq: number }

/** Which segments are wanted; what is left out does not narrow it. */
export interface SegmentFilter {
  readonly stream?: LogStream | undefined
  /** Nothing that was read before this time. */
  readonly since?: Date | undefined
}

interface StoredSegments {
  readonly replica: LogOwner
  readonly filter: SegmentFilter
}

/**
 * What a replica's output has after the position, in order, wherever it is kept.
 * @throws Problem `store_failed`, `unavailable` for what the store of outputs does not give
 */
export async function* segmentsAfter(
  deps: ServiceDeps,
  { replica, filter, position }: StoredSegments & { readonly position: LogPosition },
): AsyncGenerator<LogSegment> {
  for (let after = 0; ;) {
    const from = (['stdout', 'stderr'] as const).map((stream) => position.offset(replica.role, replica.index, stream))
    const values = [...valuesOf({ replica, filter }), after, ...from]
    const { rows } = await deps.pool.query<Row>({ name: 'log_forwards', text: FORWARDS, values })
    const segments = await segmentsOf(deps, { replica, filter }, rows)
    yield* segments.filter(({ stream, start, bytes }) => start + bytes.length > position.offset(replica.role, replica.index, stream))
    const last = rows.at(-1)
    if (last === undefined || (last.firstSeq === null && rows.length < BATCH)) return
    after = last.seq
  }
}

/** The same from the end to the beginning. @throws Problem as above */
export async function* segmentsBackwards(deps: ServiceDeps, { replica, filter }: StoredSegments): AsyncGenerator<LogSegment> {
  for (let before = LAST_SEQ; ;) {
    const values = [...valuesOf({ replica, filter }), before]
    const { rows } = await deps.pool.query<Row>({ name: 'log_backwards', text: BACKWARDS, values })
    const row = rows[0]
    if (row === undefined) return
    const segments = await segmentsOf(deps, { replica, filter }, rows)
    const unread = before
    yield* segments.filter(({ seq }) => seq < unread).toReversed()
    before = row.firstSeq ?? row.seq
  }
}

const valuesOf = ({ replica: { attemptId, role, index }, filter: { stream, since } }: StoredSegments) => [
  attemptId,
  role,
  index,
  stream ?? null,
  since ?? null,
]

async function segmentsOf(deps: ServiceDeps, { replica, filter }: StoredSegments, rows: readonly Row[]): Promise<LogSegment[]> {
  const segments: LogSegment[] = []
  for (const row of rows) {
    if (row.firstSeq === null) segments.push(row)
    else segments.push(...(await blockOf(deps, { replica, filter }, { firstSeq: row.firstSeq, lastSeq: row.seq })))
  }
  return segments
}

async function blockOf(
  deps: ServiceDeps,
  { replica, filter: { stream, since } }: StoredSegments,
  block: { readonly firstSeq: number; readonly lastSeq: number },
): Promise<LogSegment[]> {
  const segments = await withStoreProblems(() => readBlock(deps.stores.logs, { ...replica, ...block }))
  return segments.filter((segment) => (stream === undefined || segment.stream === stream) && (since === undefined || segment.at >= since))
}
