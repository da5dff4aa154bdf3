import type { Readable } from 'node:stream'

/** One object. Keys are relative to the drive, as `objectKey` of the domain lets them through. */
export interface ObjectInfo {
  readonly key: string
  readonly size: number
  /** A strong validator (RFC 9110, 8.8), with its quotes. */
  readonly etag: string
  readonly modifiedAt: Date
  readonly contentType: string | null
  /** 64 hex digits, where it is known without reading. */
  readonly sha256: string | null
}

/** `never`: only if there is none; `match`: only if it has this tag. */
export type WriteCondition = { readonly kind: 'never' } | { readonly kind: 'match'; readonly etag: string }

export interface WriteOptions {
  readonly condition?: WriteCondition
  readonly contentType?: string
  /** What the bytes must hash to, 64 hex digits; checked before the object is visible. */
  readonly sha256?: string
  /** Bytes of the body, where they are known: large ones are sent in larger parts. */
  readonly size?: number
  /** Bytes that are still allowed; more ends with `too_large`. */
  readonly maxBytes?: number
  readonly signal: AbortSignal
}

/** Bytes `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

export interface ReadOptions {
  /** For a range the caller must know the size: `head` first, and give its `etag` as `ifMatch`. */
  readonly range?: ByteRange
  readonly ifMatch?: string
  readonly signal: AbortSignal
}

export interface ListOptions {
  readonly prefix: string
  /** `/` gives one level with its `prefixes`; null gives everything below. */
  readonly delimiter: '/' | null
  /** Keys and prefixes after this one, in the order of their UTF-8 bytes. */
  readonly after: string | null
  readonly limit: number
  readonly signal: AbortSignal
}

export interface ObjectPage {
  readonly objects: readonly ObjectInfo[]
  /** Ending in `/`. */
  readonly prefixes: readonly string[]
  /** What to give as `after` for the next page; null at the end. */
  readonly next: string | null
}

/** Where the bytes of one drive are. Every method throws `StoreError` and nothing else. */
export interface ObjectStore {
  head(key: string, signal: AbortSignal): Promise<ObjectInfo | null>

  /** @throws StoreError `not_found`, `precondition_failed` */
  read(key: string, options: ReadOptions): Promise<Readable>

  /**
   * All or nothing: an upload that is cut off leaves nothing that can be seen.
   * @throws StoreError `precondition_failed`, `digest_mismatch`, `too_large`, `conflict` (an object lies where a prefix must be)
   */
  write(key: string, body: Readable, options: WriteOptions): Promise<ObjectInfo>

  /** False when there was none. @throws StoreError `precondition_failed` */
  remove(key: string, options: { readonly ifMatch?: string; readonly signal: AbortSignal }): Promise<boolean>

  list(options: ListOptions): Promise<ObjectPage>

  /** Objects that become visible together. The same id gives the same batch again, in any process, after any crash. */
  batch(id: string): ObjectBatch

  /**
   * Copies objects into files of this machine, past this process; missing where the store is elsewhere.
   * @throws StoreError `precondition_failed` for one that is not as it was; or what the target's file system says
   */
  copyOut?(copies: readonly ObjectCopy[], options: CopyOptions): Promise<void>

  /** A URL that gives or takes one object for a while; null where the store has none. */
  presign(key: string, options: PresignOptions): Promise<string | null>
}

export interface ObjectCopy extends Pick<ObjectInfo, 'key' | 'etag' | 'size'> {
  /** Absolute path of a file in a directory that is there; one that is there is replaced. */
  readonly to: string
}

export interface CopyOptions {
  /** Of the new files, whatever the process's mask. */
  readonly mode: number
  readonly signal: AbortSignal
  /** Told after each file. */
  readonly onCopied: (size: number) => void
}

export interface PresignOptions {
  readonly method: 'GET' | 'PUT'
  readonly expiresInSeconds: number
}

/** What happens to an object that is there already. */
export type OnConflict = 'fail' | 'replace' | 'keep'

export interface CommitOptions {
  readonly onConflict: OnConflict
  readonly signal: AbortSignal
}

export interface ObjectBatch {
  /** Nothing is visible yet. Writing a key again replaces it. */
  write(key: string, body: Readable, options: Omit<WriteOptions, 'condition'>): Promise<ObjectInfo>
  /** What is in it. */
  keys(signal: AbortSignal): Promise<readonly ObjectInfo[]>
  /**
   * Looks whether all of it may become visible.
   * @throws StoreError `precondition_failed` for `fail` with the keys that are in the way; `conflict`
   */
  check(options: CommitOptions): Promise<void>
  /**
   * Makes all of it visible. Again after a crash it goes on where it stood, and two at once do no more than one; nobody
   * may write to the batch any more, nor begin another one of the drive.
   */
  commit(options: CommitOptions): Promise<void>
  /** Forgets what is not committed. */
  abandon(signal: AbortSignal): Promise<void>
}

/**
 * - `not_found`: no such object, or no such bucket
 * - `precondition_failed`: it is there, or another version of it is
 * - `digest_mismatch`: the bytes are not what the digest says
 * - `conflict`: `f` and `f/x` cannot both be
 * - `too_large`: more bytes than are allowed
 * - `full`: no space left
 * - `access_denied`: the credentials may not
 * - `misconfigured`: wrong region, no such bucket, an address that is no such server
 * - `unavailable`: it did not answer, or was cut off; try again
 */
export type StoreErrorKind =
  | 'not_found'
  | 'precondition_failed'
  | 'digest_mismatch'
  | 'conflict'
  | 'too_large'
  | 'full'
  | 'access_denied'
  | 'misconfigured'
  | 'unavailable'

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly kind: StoreErrorKind

  /** @param message for people, without secrets */
  constructor(kind: StoreErrorKind, message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.kind = kind
  }
}
