import { DRIVE_ACCESS, type Drive, type DriveAccess } from '../../domain/drives/drive.ts'
import { Problem } from '../../domain/problem.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { DRIVE_COLUMNS, driveOfRow } from './drive-row.ts'

export interface DriveName {
  readonly project: string
  readonly name: string
  /** The most that may be done with it here, whatever it allows. */
  readonly most?: DriveAccess
}

/** @throws Problem `not_found` */
export async function findDrive(deps: ServiceDeps, { project, name, most = 'rw' }: DriveName): Promise<Drive> {
  const row = await deps.db
    .selectFrom('drive')
    .select(DRIVE_COLUMNS)
    .where('project_id', '=', project)
    .where('name', '=', name)
    .executeTakeFirst()
  if (!row) throw new Problem('not_found', `There is no drive \`${name}\`.`)
  const drive = driveOfRow(row)
  return { ...drive, access: ORDER[Math.min(ORDER.indexOf(drive.access), ORDER.indexOf(most))] ?? 'ro' }
}

/** From the least to the most. */
const ORDER: readonly DriveAccess[] = DRIVE_ACCESS
