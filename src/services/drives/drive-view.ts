import type { DriveAccess, DriveCredentials, DriveSource } from '../../domain/drives/drive.ts'
import { DRIVE_COLUMNS, driveOfRow, type DriveRow } from './drive-row.ts'

/** What a worker found when it last tried the drive. Times are RFC 3339 UTC. */
export interface DriveCheck {
  readonly ok: boolean
  readonly at: string
  readonly list: boolean
  /** Null where there was nothing to read, or nothing may be written. */
  readonly read: boolean | null
  readonly write: boolean | null
  readonly objects: number
  readonly largestBytes: number
  /** Whether all objects were counted. */
  readonly complete: boolean
  readonly error: { readonly code: string; readonly detail: string } | null
}

/** A drive as the API shows it: the fields of its source stand beside the rest, told apart by `kind`. */
export type DriveView = DriveSource & {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly access: DriveAccess
  readonly credentials: DriveCredentials | null
  readonly labels: Readonly<Record<string, string>>
  /** Of managed drives: what their objects take; null for others. */
  readonly usage: { readonly bytes: number; readonly objects: number } | null
  readonly checked: DriveCheck | null
  readonly createdAt: string
  readonly updatedAt: string
}

export const VIEW_COLUMNS = [...DRIVE_COLUMNS, 'used_bytes', 'used_objects', 'checked', 'created_at', 'updated_at'] as const

export interface DriveViewRow extends DriveRow {
  readonly used_bytes: number | string
  readonly used_objects: number | string
  readonly checked: unknown
  readonly created_at: Date
  readonly updated_at: Date
}

export function driveViewOf(row: DriveViewRow): DriveView {
  const { id, name, version, access, source, credentials, labels } = driveOfRow(row)
  const usage = source.kind === 'managed' ? { bytes: Number(row.used_bytes), objects: Number(row.used_objects) } : null
  return {
    id,
    name,
    version,
    ...source,
    access,
    credentials,
    labels,
    usage,
    checked: row.checked as DriveCheck | null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
