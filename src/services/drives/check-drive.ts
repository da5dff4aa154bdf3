import { newId } from '../../domain/id.ts'
import type { ServiceDeps } from '../service-deps.ts'
import type { DriveView } from './drive-view.ts'
import { getDrive } from './drives.ts'
import type { DriveName } from './find-drive.ts'

const LOOK_MS = 1_000

/** Asks a worker to try the drive, and waits for what it finds, up to a time. @throws Problem `not_found` */
export async function checkDrive(
  deps: ServiceDeps,
  { project, name, waitSeconds, signal }: DriveName & { waitSeconds: number; signal: AbortSignal },
): Promise<DriveView> {
  const before = await getDrive(deps, { project, name })
  await deps.db
    .insertInto('drive_check')
    .values({ id: newId('evt'), drive_id: before.id })
    .execute()
  const bell = deps.signals.listen(`drive:${before.id}`)
  deps.signals.notify('check')
  const until = performance.now() + waitSeconds * 1000
  try {
    for (;;) {
      const now = await getDrive(deps, { project, name })
      const left = until - performance.now()
      if (now.checked?.at !== before.checked?.at || left <= 0 || signal.aborted) return now
      await bell.next(Math.min(left, LOOK_MS), signal)
    }
  } finally {
    bell.close()
  }
}
