import type { DriveSnapshot } from '../../domain/drives/drive.ts'
import { StoreError, type ObjectStore } from '../../stores/object-store.ts'
import { credentialsOf } from '../drives/credentials-of.ts'
import type { ServiceDeps } from '../service-deps.ts'

/** The bytes of a drive, with the credentials that it names. @throws StoreError */
export async function openDrive(deps: ServiceDeps, project: string, drive: DriveSnapshot): Promise<ObjectStore> {
  const store = deps.stores.open(drive, await credentialsOf(deps, project, drive))
  if (store === null) throw new StoreError('misconfigured', `the files of a drive of kind ${drive.source.kind} cannot be copied`)
  return store
}
