import type { AttemptSpec } from '../../domain/attempt.ts'
import { StoreError } from '../../stores/object-store.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { storeFailure } from './store-failure.ts'

/** A live directory of a drive must be there before it can be mounted. @throws SchedulerError `rejected` with `mount_failed` */
export async function makeDriveDirectories(deps: ServiceDeps, { roles }: AttemptSpec): Promise<void> {
  for (const { mounts } of roles) {
    for (const plan of mounts) {
      if (plan.via !== 'drive_directory') continue
      try {
        await deps.stores.makeDirectory(plan.driveId, plan.subPath)
      } catch (error) {
        throw error instanceof StoreError ? storeFailure(error, plan.path) : error
      }
    }
  }
}
