import { sql } from 'kysely'
import { newId } from '../../domain/id.ts'
import type { Page } from '../../domain/job-view.ts'
import type { NewDrive } from '../../domain/drives/parse-drive.ts'
import { Problem } from '../../domain/problem.ts'
import { pageAfter, readCursor } from '../jobs/keyset-cursor.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { driveViewOf, VIEW_COLUMNS, type DriveView } from './drive-view.ts'
import type { DriveName } from './find-drive.ts'

/** Registers a drive. @throws Problem `already_exists` */
export async function createDrive(deps: ServiceDeps, project: string, drive: NewDrive): Promise<DriveView> {
  const row = await deps.db
    .insertInto('drive')
    .values({ id: newId('drv'), project_id: project, name: drive.name, kind: drive.source.kind, ...columnsOf(drive) })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
    .returning(VIEW_COLUMNS)
    .executeTakeFirst()
  if (!row) throw new Problem('already_exists', `There is a drive \`${drive.name}\` already. Change it by PUT.`)
  return driveViewOf(row)
}

/** @throws Problem `not_found` */
export async function getDrive(deps: ServiceDeps, { project, name }: DriveName): Promise<DriveView> {
  const row = await deps.db
    .selectFrom('drive')
    .select(VIEW_COLUMNS)
    .where('project_id', '=', project)
    .where('name', '=', name)
    .executeTakeFirst()
  if (!row) throw new Problem('not_found', `There is no drive \`${name}\`.`)
  return driveViewOf(row)
}

export interface DriveFilters {
  readonly kind?: string
  readonly labels?: Readonly<Record<string, string>>
}

/** By name. @throws Problem `malformed_request` for a cursor of another list */
export async function listDrives(
  deps: ServiceDeps,
  { project, filters, limit, cursor }: { project: string; filters: DriveFilters; limit: number; cursor: string | undefined },
): Promise<Page<DriveView>> {
  const list = { list: 'drives', project, ...filters }
  const after = readCursor(cursor, list)
  let query = deps.db.selectFrom('drive').select(VIEW_COLUMNS).where('project_id', '=', project)
  if (filters.kind !== undefined) query = query.where('kind', '=', filters.kind)
  if (filters.labels !== undefined) query = query.where(sql<boolean>`labels @> ${JSON.stringify(filters.labels)}::jsonb`)
  if (after !== null) query = query.where('name', '>', after)
  const rows = await query
    .orderBy('name')
    .limit(limit + 1)
    .execute()
  const items = rows.slice(0, limit).map(driveViewOf)
  return { items, nextCursor: rows.length > limit ? pageAfter(items.at(-1)?.name, list) : null }
}

/**
 * Everything but its name and kind, from the version that the client has seen. Jobs keep the drive as it was.
 *
 * @throws Problem `invalid_request` for another kind, `precondition_failed` if it is not at `from` any longer
 */
export async function changeDrive(deps: ServiceDeps, { drive, from }: { drive: NewDrive; from: DriveView }): Promise<DriveView> {
  if (drive.source.kind !== from.kind) {
    const detail = `the kind of a drive cannot change: "${from.name}" is of kind ${from.kind}`
    throw new Problem('invalid_request', detail, { errors: [{ pointer: '/kind', code: 'kind_fixed', detail }] })
  }
  const row = await deps.db
    .updateTable('drive')
    .set({ ...columnsOf(drive), version: from.version + 1, updated_at: sql`now()` })
    .where('id', '=', from.id)
    .where('version', '=', from.version)
    .returning(VIEW_COLUMNS)
    .executeTakeFirst()
  if (!row) throw new Problem('precondition_failed', `The drive \`${from.name}\` has changed since you read it.`)
  return driveViewOf(row)
}

const columnsOf = ({ access, source, credentials, labels }: NewDrive) => ({
  access,
  source: JSON.stringify(source),
  credentials: credentials === null ? null : JSON.stringify(credentials),
  labels: JSON.stringify(labels),
})
