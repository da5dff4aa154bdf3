import type { Drives } from '../../domain/admit-mounts.ts'
import type { JobSpec } from '../../domain/job-spec.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { DRIVE_COLUMNS, driveOfRow, snapshotOf } from './drive-row.ts'

/** So many names are known when one is not found, to guess which was meant. */
const GUESSES = 200

/** The drives that a job names, as they are now; others beside them when one is missing. No query for a job without drives. */
export async function findDrives(deps: ServiceDeps, project: string, spec: JobSpec): Promise<Drives> {
  const names = new Set(spec.roles.flatMap(({ mounts }) => mounts.flatMap((mount) => (mount.type === 'drive' ? [mount.drive] : []))))
  if (names.size === 0) return new Map()
  const query = deps.db.selectFrom('drive').select(DRIVE_COLUMNS).where('project_id', '=', project)
  const found = await query.where('name', 'in', [...names]).execute()
  const others = found.length === names.size ? [] : await query.orderBy('name').limit(GUESSES).execute()
  return new Map([...others, ...found].map((row) => [row.name, snapshotOf(driveOfRow(row))]))
}
