import { Problem } from '../../domain/problem.ts'
import type { ServiceDeps } from '../service-deps.ts'
import type { DriveView } from './drive-view.ts'

/** Jobs that have not ended, and attempts whose native objects still stand. */
const USERS = `
SELECT DISTINCT j.id FROM job j JOIN attempt a ON a.job_id = j.id AND a.number = j.attempt
WHERE j.project_id = $1 AND (j.ended_at IS NULL OR a.removed_at IS NULL)
  AND a.resolutions::jsonb @> jsonb_build_array(jsonb_build_object('drive', jsonb_build_object('id', $2::text)))
ORDER BY j.id LIMIT 20`

export interface Deletion {
  readonly from: DriveView
  /** Also what it holds, if it is managed. */
  readonly withObjects: boolean
}

/**
 * Takes a drive off the register; what a managed one holds goes only if that is said.
 *
 * @throws Problem `drive_in_use` with the jobs, `drive_not_empty`, `precondition_failed`
 */
export async function deleteDrive(deps: ServiceDeps, project: string, { from, withObjects }: Deletion): Promise<void> {
  const { rows } = await deps.pool.query<{ id: string }>(USERS, [project, from.id])
  if (rows.length > 0)
    throw new Problem('drive_in_use', `These jobs use the drive \`${from.name}\`: ${rows.map(({ id }) => id).join(', ')}.`)
  if (from.kind === 'managed' && !withObjects && (await holdsObjects(deps, from))) {
    throw new Problem('drive_not_empty', `The drive \`${from.name}\` holds objects. Say objects=delete to delete them with it.`)
  }
  const { rowCount } = await deps.pool.query(DELETE, [from.id, from.version])
  if (rowCount === 0) throw new Problem('precondition_failed', `The drive \`${from.name}\` has changed since you read it.`)
  if (from.kind === 'managed') await forgetDrive(deps, from.id)
}

/** Deletes the bytes of managed drives that somebody has not come to the end of. */
export async function sweepRemovedDrives(deps: ServiceDeps): Promise<void> {
  const { rows } = await deps.pool.query<{ id: string }>(LEFT)
  for (const { id } of rows) await forgetDrive(deps, id)
}

async function forgetDrive(deps: ServiceDeps, driveId: string): Promise<void> {
  await deps.stores.forget(driveId)
  await deps.pool.query('DELETE FROM drive_removal WHERE id = $1', [driveId])
}

const LEFT = `SELECT id FROM drive_removal WHERE created_at < now() - interval '1 minute' LIMIT 10`

/** With all that is told of it; what its bytes are to be deleted by is noted in the same. */
const DELETE = `
WITH gone AS (DELETE FROM drive WHERE id = $1 AND version = $2 RETURNING id, kind),
commits AS (DELETE FROM drive_commit USING gone WHERE drive_id = gone.id),
events AS (DELETE FROM drive_event USING gone WHERE drive_id = gone.id),
noted AS (INSERT INTO drive_removal (id) SELECT id FROM gone WHERE kind = 'managed')
SELECT id FROM gone`

/** The store is asked and not the counters: jobs may have written behind them. */
async function holdsObjects(deps: ServiceDeps, drive: DriveView): Promise<boolean> {
  const store = deps.stores.open({ ...drive, source: drive }, null)
  const page = await store?.list({ prefix: '', delimiter: null, after: null, limit: 1, signal: AbortSignal.timeout(10_000) })
  return (page?.objects.length ?? 0) > 0
}
