import type { Drive } from '../../domain/drives/drive.ts'
import { Problem } from '../../domain/problem.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { DRIVE_COLUMNS, driveOfRow } from './drive-row.ts'

export interface DriveName {
  readonly project: string
  readonly name: string
}

/** @throws Problem `not_found` */
export async function findDrive(deps: ServiceDeps, { project, name }: DriveName): Promise<Drive> {
  const row = await deps.db
    .selectFrom('drive')
    .select(DRIVE_COLUMNS)
    .where('project_id', '=', project)
    .where('name', '=', name)
    .executeTakeFirst()
  if (!row) throw new Problem('not_found', `There is no drive \`${name}\`.`)
  return driveOfRow(row)
}
