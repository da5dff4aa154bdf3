import type { DriveSnapshot } from '../domain/drives/drive.ts'
import type { ObjectStore } from './object-store.ts'

/** Of S3, of a compatible server, or HMAC keys of Google Cloud Storage. */
export interface S3Keys {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

/** The shared key of a storage account (base64), or a token of limited rights. */
export type AzureCredentials =
  { readonly type: 'azure_key'; readonly accountKey: string } | { readonly type: 'azure_sas'; readonly token: string }

/** What opens a bucket. Never logged, never stored in the clear. */
export type StoreCredentials = ({ readonly type: 's3_keys' } & S3Keys) | AzureCredentials

/** Opens the bytes of a drive, whatever its kind. */
export interface Stores {
  /** Where the output of ended jobs is, beside the managed drives. */
  readonly logs: ObjectStore
  /**
   * Null for a kind whose bytes Berth cannot reach, such as an NFS export. Cheap; nothing is sent yet.
   * @throws StoreError `access_denied` for credentials of another kind of bucket
   */
  open(drive: DriveSnapshot, credentials: StoreCredentials | 'ambient' | null): ObjectStore | null
  /** Deletes all that a managed drive holds. Repeating it is fine. */
  forget(driveId: string): Promise<void>
  /** Makes the live directory of a managed drive, or a part of it, where it is missing. Nothing for drives in a bucket. */
  makeDirectory(driveId: string, subPath: string): Promise<void>
}
