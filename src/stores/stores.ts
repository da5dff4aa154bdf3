import type { DriveSnapshot } from '../domain/drives/drive.ts'
import type { ObjectStore } from './object-store.ts'

/** What opens a bucket; null where it is public. Never logged, never stored in the clear. */
export interface StoreCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** Opens the bytes of a drive, whatever its kind. */
export interface Stores {
  /** Null for a kind whose bytes Berth cannot reach, such as an NFS export. Cheap; nothing is sent yet. */
  open(drive: DriveSnapshot, credentials: StoreCredentials | 'ambient' | null): ObjectStore | null
  /** Deletes all that a managed drive holds. Repeating it is fine. */
  forget(driveId: string): Promise<void>
  /** Makes the live directory of a managed drive, or a part of it, where it is missing. Nothing for drives in a bucket. */
  makeDirectory(driveId: string, subPath: string): Promise<void>
}
