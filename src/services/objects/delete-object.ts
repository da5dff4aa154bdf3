import { Problem } from '../../domain/problem.ts'
import type { DriveName } from '../drives/find-drive.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { findObject, keyToWrite, objectViewOf, type ObjectName } from './object-place.ts'
import { openObjects, type OpenDrive } from './open-objects.ts'
import { recordChange } from './record-change.ts'
import { withStoreProblems } from './store-problem.ts'

export interface Unwanted extends ObjectName {
  /** All that lies below the path too. */
  readonly recursive: boolean
  /** Whether one that is not there is fine. */
  readonly missingOk: boolean
  readonly ifMatch: string | undefined
  readonly signal: AbortSignal
}

const PAGE = 500

/** @throws Problem `not_found`, `prefix_not_empty`, `precondition_failed`, `access_denied` */
export async function deleteObject(deps: ServiceDeps, name: DriveName, unwanted: Unwanted): Promise<void> {
  const { signal, path, missingOk, ifMatch } = unwanted
  const opened = await openObjects(deps, name, 'change', signal)
  await withStoreProblems(async () => {
    if (unwanted.recursive) return deleteBelow(deps, opened, unwanted)
    const object = await findObject(opened, unwanted, signal)
    if (object !== null) {
      await opened.store.remove(object.key, { signal, ...(ifMatch !== undefined && { ifMatch }) })
      return recordDeletion(deps, opened, { path, component: objectViewOf(opened.drive, object).component, bytes: object.size, objects: 1 })
    }
    const below = await opened.store.list({
      prefix: `${keyToWrite(opened.drive, unwanted)}/`,
      delimiter: null,
      after: null,
      limit: 1,
      signal,
    })
    if (below.objects.length > 0)
      throw new Problem('prefix_not_empty', `There are objects below \`${path}\`. Say recursive=true to delete them all.`)
    if (!missingOk) throw new Problem('not_found', `There is no object \`${path}\` on the drive \`${name.name}\`.`)
  })
}

async function deleteBelow(deps: ServiceDeps, opened: OpenDrive, { signal, ...unwanted }: Unwanted): Promise<void> {
  const { drive, store } = opened
  const key = keyToWrite(drive, unwanted)
  let objects = 0
  let bytes = 0
  const one = await store.head(key, signal)
  const remove = async (object: { key: string; size: number }): Promise<void> => {
    if (!(await store.remove(object.key, { signal }))) return
    objects += 1
    bytes += object.size
  }
  if (one !== null) await remove(one)
  for (;;) {
    const page = await store.list({ prefix: `${key}/`, delimiter: null, after: null, limit: PAGE, signal })
    for (const object of page.objects) await remove(object)
    if (page.objects.length === 0) break
  }
  if (objects === 0 && !unwanted.missingOk)
    throw new Problem('not_found', `There is nothing at \`${unwanted.path}\` on the drive \`${drive.name}\`.`)
  if (objects > 0) await recordDeletion(deps, opened, { path: unwanted.path, component: unwanted.component ?? null, bytes, objects })
}

interface Gone {
  readonly path: string
  readonly component: string | null
  readonly bytes: number
  readonly objects: number
}

const recordDeletion = (deps: ServiceDeps, { drive }: OpenDrive, { path, component, bytes, objects }: Gone): Promise<void> =>
  recordChange(deps, { driveId: drive.id, type: 'object_deleted', data: { path, component, objects }, bytes: -bytes, objects: -objects })
