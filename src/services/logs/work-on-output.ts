import { crashPoint } from '../../crash-point.ts'
import type { LogOwner } from '../../db/statements/append-log.ts'
import type { WorkerDeps } from '../worker-deps.ts'
import type { LogSegment } from './log-block.ts'
import { removeBlock, removeBlocks, writeBlock, type BlockName } from './log-blocks.ts'

/** Bytes of output in one object, before compression: what a reader unpacks at once. */
const BLOCK_BYTES = 4 * 1024 * 1024
/** Segments that one look into the database brings; at most 4 MiB. */
const BATCH = 16

/** Whoever takes a piece of work has it to himself for so long; what is not done by then is begun again. */
const TAKE = `
UPDATE log_work SET due_at = now() + interval '10 minutes' WHERE attempt_id IN (
  SELECT attempt_id FROM log_work WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING attempt_id AS "attemptId", act`

const DONE = 'DELETE FROM log_work WHERE attempt_id = $1 AND act = $2'

const REPLICAS = `SELECT DISTINCT attempt_id AS "attemptId", role, index FROM log_segment WHERE attempt_id = $1 ORDER BY role, index`

const NEXT = `
SELECT seq, stream, start, bytes, at FROM log_segment
WHERE attempt_id = $1 AND role = $2 AND index = $3 AND seq > $4 ORDER BY seq LIMIT ${BATCH}`

/** The segments of a block give way to it: all of them, or, if somebody else was at them, none. */
const EXCHANGE = `
WITH here AS (
  SELECT seq FROM log_segment WHERE attempt_id = $1 AND role = $2 AND index = $3 AND seq BETWEEN $4 AND $5 FOR UPDATE
), gone AS (
  DELETE FROM log_segment WHERE attempt_id = $1 AND role = $2 AND index = $3 AND seq IN (SELECT seq FROM here)
    AND (SELECT count(*) FROM here) = $6
)
INSERT INTO log_block (attempt_id, role, index, first_seq, last_seq, stdout_end, stderr_end, last_at)
SELECT $1, $2, $3, $4, $5, $7, $8, $9 WHERE (SELECT count(*) FROM here) = $6`

interface Work {
  readonly attemptId: string
  readonly act: 'archive' | 'remove'
}

/** Moves the output of ended attempts into the store of outputs, and deletes there what is no longer kept, until none is due. */
export async function workOnOutput(deps: WorkerDeps, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const { rows } = await deps.pool.query<Work>({ name: 'take_log_work', text: TAKE })
    const work = rows[0]
    if (!work) return
    if (work.act === 'remove') await removeBlocks(deps.stores.logs, work.attemptId)
    else if (!(await archiveOutput(deps, work.attemptId, stop))) return
    crashPoint('archive.done.before')
    await deps.pool.query(DONE, [work.attemptId, work.act])
  }
}

/** @returns whether all of it is archived; what is not will be later */
async function archiveOutput(deps: WorkerDeps, attemptId: string, stop: AbortSignal): Promise<boolean> {
  const { rows: replicas } = await deps.pool.query<LogOwner>(REPLICAS, [attemptId])
  for (const replica of replicas) {
    for await (const segments of blocksOf(deps, replica)) {
      if (stop.aborted) return false
      await archiveBlock(deps, replica, segments)
    }
  }
  return true
}

/** A replica's segments, as many at a time as make a block. */
async function* blocksOf(deps: WorkerDeps, { attemptId, role, index }: LogOwner): AsyncGenerator<LogSegment[]> {
  let block: LogSegment[] = []
  let bytes = 0
  for (let after = 0; ;) {
    const { rows } = await deps.pool.query<LogSegment>({ name: 'log_to_archive', text: NEXT, values: [attemptId, role, index, after] })
    for (const segment of rows) {
      block.push(segment)
      bytes += segment.bytes.length
      after = segment.seq
      if (bytes < BLOCK_BYTES) continue
      yield block
      block = []
      bytes = 0
    }
    if (rows.length < BATCH) break
  }
  if (block.length > 0) yield block
}

/** Written first, so that nobody is ever sent to an object that is not there. */
async function archiveBlock(deps: WorkerDeps, owner: LogOwner, segments: readonly LogSegment[]): Promise<void> {
  const [first, last] = [segments[0], segments.at(-1)]
  if (!first || !last) return
  const name: BlockName = { ...owner, firstSeq: first.seq, lastSeq: last.seq }
  await writeBlock(deps.stores.logs, name, segments)
  crashPoint('archive.written.after')
  const ends = (['stdout', 'stderr'] as const).map((stream) => endOf(segments, stream))
  const lastAt = new Date(Math.max(...segments.map(({ at }) => at.getTime())))
  const values = [owner.attemptId, owner.role, owner.index, first.seq, last.seq, segments.length, ...ends, lastAt]
  const { rowCount } = await deps.pool.query({ name: 'exchange_log', text: EXCHANGE, values })
  crashPoint('archive.exchanged.after')
  if (rowCount === 0 && !(await isKnown(deps, name))) await removeBlock(deps.stores.logs, name)
}

function endOf(segments: readonly LogSegment[], stream: LogSegment['stream']): number {
  const last = segments.findLast((segment) => segment.stream === stream)
  return last ? last.start + last.bytes.length : 0
}

/** Whether another worker has made the same block. */
async function isKnown(deps: WorkerDeps, { attemptId, role, index, firstSeq, lastSeq }: BlockName): Promise<boolean> {
  const text = 'SELECT FROM log_block WHERE attempt_id = $1 AND role = $2 AND index = $3 AND first_seq = $4 AND last_seq = $5'
  const { rowCount } = await deps.pool.query(text, [attemptId, role, index, firstSeq, lastSeq])
  return rowCount !== 0
}
