import type { Drive, DriveAccess, DriveCredentials, DriveSnapshot, DriveSource } from '../../domain/drives/drive.ts'

/** Columns of a drive, for `SELECT`. */
export const DRIVE_COLUMNS = ['id', 'name', 'version', 'access', 'source', 'credentials', 'labels'] as const

/** As the database gives it. */
export interface DriveRow {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly access: string
  readonly source: unknown
  readonly credentials: unknown
  readonly labels: unknown
}

export const driveOfRow = ({ id, name, version, access, source, credentials, labels }: DriveRow): Drive => ({
  id,
  name,
  version,
  access: access as DriveAccess,
  source: source as DriveSource,
  credentials: credentials as DriveCredentials | null,
  labels: labels as Drive['labels'],
})

/** A drive as a job keeps it. */
export const snapshotOf = ({ id, name, version, access, source, credentials }: Drive): DriveSnapshot => ({
  id,
  name,
  version,
  access,
  source,
  credentials,
})
