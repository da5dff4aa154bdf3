import { driveDeliveries } from '../../db/statements/drive-deliveries.ts'
import type { ServiceDeps } from '../service-deps.ts'

export interface DriveChange {
  readonly driveId: string
  readonly type: 'object_created' | 'object_deleted'
  readonly data: Readonly<Record<string, unknown>>
  /** What was added, less what was taken away. */
  readonly bytes: number
  readonly objects: number
}

/** Event and counters in one; sequence numbers are gapless, taken under the drive's row. */
const RECORD = `
WITH d AS (
  UPDATE drive SET seq = seq + 1, used_bytes = greatest(0, used_bytes + $3), used_objects = greatest(0, used_objects + $4)
  WHERE id = $1 RETURNING *
), event AS (
  INSERT INTO drive_event (drive_id, seq, type, data) SELECT $1, seq, $2, $5::jsonb FROM d
), delivery AS (${driveDeliveries({ type: "'drive.' || $2::text", data: '$5::jsonb' })}
)
SELECT EXISTS (SELECT FROM delivery) AS sent`

/** Says that the objects of a drive have changed. */
export async function recordChange(deps: ServiceDeps, { driveId, type, data, bytes, objects }: DriveChange): Promise<void> {
  const values = [driveId, type, bytes, objects, JSON.stringify(data)]
  const { rows } = await deps.pool.query<{ sent: boolean }>({ name: 'record_drive_change', text: RECORD, values })
  deps.signals.notify(`drive:${driveId}`)
  if (rows[0]?.sent) deps.signals.notify('webhooks')
}
