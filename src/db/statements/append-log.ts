import type { Pool } from 'pg'
import type { LogStream } from '../../domain/attempt.ts'

export interface LogOwner {
  readonly attemptId: string
  readonly role: string
  readonly index: number
}

export interface LogPiece {
  readonly stream: LogStream
  /** Position of the first byte in its stream. */
  readonly start: number
  readonly bytes: Buffer
}

/**
 * Appends pieces in order if both streams still end where the first pieces begin; otherwise nothing, so that two
 * readers of one output can never store it twice or leave a hole.
 */
const APPEND = `
WITH piece AS (
  SELECT ordinality AS n, stream, start, bytes
  FROM unnest($4::text[], $5::int8[], $6::bytea[]) WITH ORDINALITY AS p(stream, start, bytes, ordinality)
), grown AS (
  INSERT INTO log_stream AS s (attempt_id, role, index, stream, size)
  SELECT $1, $2, $3, stream, sum(length(bytes)) FROM piece GROUP BY stream HAVING min(start) = 0
  ON CONFLICT (attempt_id, role, index, stream) DO NOTHING
  RETURNING stream
), extended AS (
  UPDATE log_stream s SET size = s.size + p.size
  FROM (SELECT stream, min(start) AS start, sum(length(bytes)) AS size FROM piece GROUP BY stream) p
  WHERE s.attempt_id = $1 AND s.role = $2 AND s.index = $3 AND s.stream = p.stream AND s.size = p.start AND p.start > 0
  RETURNING s.stream
), stored AS (
  SELECT stream FROM grown UNION ALL SELECT stream FROM extended
)
INSERT INTO log_segment (attempt_id, role, index, seq, stream, start, bytes)
SELECT $1, $2, $3, last.seq + piece.n, stream, start, bytes
FROM piece, (SELECT coalesce(greatest(
    (SELECT max(seq) FROM log_segment WHERE attempt_id = $1 AND role = $2 AND index = $3),
    (SELECT max(last_seq) FROM log_block WHERE attempt_id = $1 AND role = $2 AND index = $3)), 0) AS seq) AS last
WHERE stream IN (SELECT stream FROM stored)
RETURNING stream`

/** Whether all of it was stored; false when another reader was faster: read the sizes again then. */
export async function appendLog(pool: Pool, owner: LogOwner, pieces: readonly LogPiece[]): Promise<boolean> {
  const { rowCount } = await pool.query({
    name: 'append_log',
    text: APPEND,
    values: [
      owner.attemptId,
      owner.role,
      owner.index,
      pieces.map((piece) => piece.stream),
      pieces.map((piece) => piece.start),
      pieces.map((piece) => piece.bytes),
    ],
  })
  return rowCount === pieces.length
}

/** How many bytes of each stream are stored. */
export async function logSizes(pool: Pool, owner: LogOwner): Promise<Record<LogStream, number>> {
  const { rows } = await pool.query<{ stream: LogStream; size: number }>(
    'SELECT stream, size FROM log_stream WHERE attempt_id = $1 AND role = $2 AND index = $3',
    [owner.attemptId, owner.role, owner.index],
  )
  const sizes = { stdout: 0, stderr: 0 }
  for (const row of rows) sizes[row.stream] = row.size
  return sizes
}
