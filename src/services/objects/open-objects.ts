import type { Drive } from '../../domain/drives/drive.ts'
import { Problem } from '../../domain/problem.ts'
import type { ObjectStore } from '../../stores/object-store.ts'
import { credentialsOf } from '../drives/credentials-of.ts'
import { snapshotOf } from '../drives/drive-row.ts'
import { findDrive, type DriveName } from '../drives/find-drive.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { finishCommits } from './finish-commits.ts'
import { withStoreProblems } from './store-problem.ts'

export interface OpenDrive {
  readonly drive: Drive
  readonly store: ObjectStore
}

/**
 * The objects of a drive, for what is to be done with them.
 *
 * @throws Problem `not_found`, `operation_unsupported` for a kind without objects, `access_denied` for what the drive does not allow
 */
export async function openObjects(
  deps: ServiceDeps,
  name: DriveName,
  need: 'read' | 'create' | 'change',
  signal: AbortSignal,
): Promise<OpenDrive> {
  const drive = await findDrive(deps, name)
  if (!ALLOWED[need].includes(drive.access)) {
    throw new Problem(
      'access_denied',
      `The drive \`${drive.name}\` allows ${drive.access} and no more; that needs ${need === 'change' ? 'rw' : 'create or rw'}.`,
    )
  }
  return withStoreProblems(async () => {
    const store = deps.stores.open(snapshotOf(drive), await credentialsOf(deps, name.project, snapshotOf(drive)))
    if (store === null) {
      const detail = `A drive of kind ${drive.source.kind} has no objects over HTTP: mount it on a job.`
      throw new Problem('operation_unsupported', detail)
    }
    await finishCommits(deps, { drive: snapshotOf(drive), store, signal })
    return { drive, store }
  })
}

const ALLOWED = { read: ['ro', 'create', 'rw'], create: ['create', 'rw'], change: ['rw'] }
