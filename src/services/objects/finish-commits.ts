import type { DriveSnapshot } from '../../domain/drives/drive.ts'
import { driveDeliveries } from '../../db/statements/drive-deliveries.ts'
import { crashPoint } from '../../crash-point.ts'
import { StoreError, type ObjectStore, type OnConflict } from '../../stores/object-store.ts'
import type { ServiceDeps } from '../service-deps.ts'
import type { CommitFigures } from './commit-figures.ts'

export interface DriveObjects {
  readonly drive: DriveSnapshot
  readonly store: ObjectStore
  readonly signal: AbortSignal
}

/** A batch of which nothing speaks against becoming visible any more. */
interface Begun {
  readonly id: string
  readonly onConflict: OnConflict
}

/** Without a sign of life for so long, whoever moves a batch is taken for dead; that one is moved by two does no harm. */
const MOVER_SECONDS = 5
const RENEW_MS = 1_000
const LOOK_MS = 200

/**
 * Waits for the batch that is being made visible on a registered drive, if there is one, and finishes it if nobody does.
 *
 * @returns how many batches have become visible on the drive so far; null for a drive that is not registered
 * @throws StoreError also `not_found` for a drive that was deleted
 */
export async function finishCommits(deps: ServiceDeps, place: DriveObjects): Promise<number | null> {
  if (place.drive.id === null) return null
  for (;;) {
    const { commits, begun } = await commitsOf(deps, place.drive.id)
    if (begun === null) return commits
    // Who began it is told.
    await finish(deps, place, begun).catch((error: unknown) => {
      if (!isRefusal(error)) throw error
    })
  }
}

/** Finishes this batch if it was begun. @returns what it has changed; null if it was not begun yet */
export async function finishBatch(deps: ServiceDeps, place: DriveObjects, batchId: string): Promise<CommitFigures | null> {
  const { rows } = await deps.pool.query<{ onConflict: OnConflict; figures: CommitFigures; done: boolean }>(
    'SELECT on_conflict AS "onConflict", figures, done_at IS NOT NULL AS done FROM drive_commit WHERE id = $1',
    [batchId],
  )
  if (rows[0] === undefined) return null
  const { onConflict, figures, done } = rows[0]
  if (!done) await finish(deps, place, { id: batchId, onConflict })
  return figures
}

/** How many batches have become visible on a drive, and which one is about to. @throws StoreError `not_found` */
export async function commitsOf(deps: ServiceDeps, driveId: string): Promise<{ commits: number; begun: Begun | null }> {
  const { rows } = await deps.pool.query<{ commits: number; id: string | null; onConflict: OnConflict }>({
    name: 'commits_of_drive',
    text: `SELECT d.commits, c.id, c.on_conflict AS "onConflict"
FROM drive d LEFT JOIN drive_commit c ON c.drive_id = d.id AND c.done_at IS NULL WHERE d.id = $1`,
    values: [driveId],
  })
  if (rows[0] === undefined) throw new StoreError('not_found', 'the drive was deleted')
  const { commits, id, onConflict } = rows[0]
  return { commits, begun: id === null ? null : { id, onConflict } }
}

async function finish(deps: ServiceDeps, place: DriveObjects, begun: Begun): Promise<void> {
  const bell = deps.signals.listen(`commit:${begun.id}`)
  try {
    while (await isBegun(deps, begun.id)) {
      place.signal.throwIfAborted()
      if (await takeMove(deps, begun.id)) await move(deps, place, begun)
      else await bell.next(LOOK_MS, place.signal)
    }
  } finally {
    bell.close()
  }
}

async function isBegun(deps: ServiceDeps, id: string): Promise<boolean> {
  const { rowCount } = await deps.pool.query('SELECT FROM drive_commit WHERE id = $1 AND done_at IS NULL', [id])
  return rowCount === 1
}

async function takeMove(deps: ServiceDeps, id: string): Promise<boolean> {
  const text = `UPDATE drive_commit SET mover_until = now() + interval '${MOVER_SECONDS} seconds'
WHERE id = $1 AND done_at IS NULL AND mover_until <= now()`
  return (await deps.pool.query(text, [id])).rowCount === 1
}

async function move(deps: ServiceDeps, { drive, store, signal }: DriveObjects, { id, onConflict }: Begun): Promise<void> {
  const renew = `UPDATE drive_commit SET mover_until = now() + interval '${MOVER_SECONDS} seconds' WHERE id = $1`
  const renewal = setInterval(() => void deps.pool.query(renew, [id]).catch(() => undefined), RENEW_MS)
  try {
    await store.batch(id).commit({ onConflict, signal })
  } catch (error) {
    const giveUp = isRefusal(error) ? 'DELETE FROM drive_commit' : 'UPDATE drive_commit SET mover_until = now()'
    await deps.pool.query(`${giveUp} WHERE id = $1`, [id])
    throw error
  } finally {
    clearInterval(renewal)
  }
  crashPoint('commit.moved.after')
  const ended =
    drive.id === null ? await deps.pool.query(END_UNREGISTERED, [id]) : await deps.pool.query<{ sent: boolean }>(END, [drive.id, id])
  deps.signals.notify(`commit:${id}`)
  if (drive.id !== null) deps.signals.notify(`drive:${drive.id}`)
  if (ended.rows[0]?.sent) deps.signals.notify('webhooks')
}

/** Something was put in its way after it was looked at. */
const isRefusal = (error: unknown): boolean =>
  error instanceof StoreError && (error.kind === 'precondition_failed' || error.kind === 'conflict')

/** End, counters and event in one, once, however many have moved it; under the lock of the drive's row. */
const END = `
WITH locked AS (SELECT id FROM drive WHERE id = $1 FOR UPDATE),
done AS (
  UPDATE drive_commit c SET done_at = now() FROM locked WHERE c.id = $2 AND c.done_at IS NULL RETURNING c.figures
), d AS (
  UPDATE drive SET seq = seq + 1, commits = commits + 1,
    used_bytes = greatest(0, used_bytes + (figures->>'addedBytes')::bigint),
    used_objects = greatest(0, used_objects + (figures->>'addedObjects')::bigint)
  FROM done WHERE drive.id = $1
  RETURNING drive.id, drive.project_id, drive.name, drive.labels, drive.seq, done.figures - 'addedBytes' - 'addedObjects' AS figures
), event AS (
  INSERT INTO drive_event (drive_id, seq, type, data) SELECT $1, seq, 'objects_committed', figures FROM d
), delivery AS (${driveDeliveries({ type: "'drive.objects_committed'", data: 'd.figures' })}
)
SELECT EXISTS (SELECT FROM delivery) AS sent`

const END_UNREGISTERED = 'UPDATE drive_commit SET done_at = now() WHERE id = $1'
