import type { DriveName } from '../drives/find-drive.ts'
import { findDrive } from '../drives/find-drive.ts'
import type { ServiceDeps } from '../service-deps.ts'

/** A recorded change of a drive's objects. */
export interface DriveEvent {
  /** Per drive, from 1, without gaps. */
  readonly sequence: number
  readonly type: string
  readonly data: unknown
  readonly at: string
}

const POLL_MS = 5_000
const PAGE = 200

/** Events after a sequence number, oldest first. @throws Problem `not_found` */
export async function listDriveEvents(
  deps: ServiceDeps,
  name: DriveName,
  { after, limit }: { after: number; limit: number },
): Promise<{ items: DriveEvent[] }> {
  const drive = await findDrive(deps, name)
  return { items: await eventsAfter(deps, drive.id, { after, limit }) }
}

/** Events after a sequence number as they come, until aborted. */
export async function* streamDriveEvents(
  deps: ServiceDeps,
  name: DriveName,
  { after, signal }: { after: number; signal: AbortSignal },
): AsyncGenerator<DriveEvent> {
  const drive = await findDrive(deps, name)
  const bell = deps.signals.listen(`drive:${drive.id}`)
  let seen = after
  try {
    while (!signal.aborted) {
      const events = await eventsAfter(deps, drive.id, { after: seen, limit: PAGE })
      yield* events
      seen = events.at(-1)?.sequence ?? seen
      if (events.length < PAGE) await bell.next(POLL_MS, signal)
    }
  } finally {
    bell.close()
  }
}

async function eventsAfter(deps: ServiceDeps, driveId: string, { after, limit }: { after: number; limit: number }): Promise<DriveEvent[]> {
  const { rows } = await deps.pool.query<{ seq: number; type: string; data: unknown; at: Date }>({
    name: 'drive_events',
    text: 'SELECT seq, type, data, at FROM drive_event WHERE drive_id = $1 AND seq > $2 ORDER BY seq LIMIT $3',
    values: [driveId, after, limit],
  })
  return rows.map(({ seq, type, data, at }) => ({ sequence: seq, type, data, at: at.toISOString() }))
}
