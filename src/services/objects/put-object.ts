import type { Readable } from 'node:stream'
import { Problem } from '../../domain/problem.ts'
import { StoreError, type WriteCondition } from '../../stores/object-store.ts'
import type { DriveName } from '../drives/find-drive.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { keyToWrite, objectViewOf, type ObjectName, type ObjectView } from './object-place.ts'
import { openObjects, type OpenDrive } from './open-objects.ts'
import { recordChange } from './record-change.ts'
import { withStoreProblems } from './store-problem.ts'

export interface NewObject extends ObjectName {
  readonly body: Readable
  readonly contentType: string | undefined
  /** What the bytes must hash to; 64 hex digits. */
  readonly sha256: string | undefined
  readonly condition: WriteCondition | undefined
  /** Of the body, where it is known. */
  readonly size: number | undefined
  readonly signal: AbortSignal
}

/**
 * Stores an object, all or nothing.
 *
 * @returns `created`: there was none before
 * @throws Problem `precondition_failed`, `digest_mismatch`, `quota_exceeded`, `path_conflict`, `access_denied`
 */
export async function putObject(deps: ServiceDeps, name: DriveName, object: NewObject): Promise<{ object: ObjectView; created: boolean }> {
  const opened = await openObjects(deps, name, 'create', object.signal)
  const { drive, store } = opened
  const key = keyToWrite(drive, object)
  return withStoreProblems(async () => {
    const old = await store.head(key, object.signal)
    const maxBytes = await bytesLeft(deps, opened, old?.size ?? null)
    if (object.size !== undefined && object.size > maxBytes)
      throw quotaExceeded(drive.name, `it takes ${object.size} bytes, and ${maxBytes} are left`)
    const condition: WriteCondition | undefined = drive.access === 'create' ? { kind: 'never' } : object.condition
    const { contentType, sha256, size: length, signal } = object
    const info = await store
      .write(key, object.body, {
        signal,
        ...(condition !== undefined && { condition }),
        ...(contentType !== undefined && { contentType }),
        ...(sha256 !== undefined && { sha256 }),
        ...(length !== undefined && { size: length }),
        ...(Number.isFinite(maxBytes) && { maxBytes }),
      })
      .catch((error: unknown) => {
        throw error instanceof StoreError && error.kind === 'too_large'
          ? quotaExceeded(drive.name, `only ${maxBytes} bytes are left`)
          : error
      })
    const view = objectViewOf(drive, info)
    const { path, component, size, etag } = view
    await recordChange(deps, {
      driveId: drive.id,
      type: 'object_created',
      data: { path, component, size, etag },
      bytes: size - (old?.size ?? 0),
      objects: old === null ? 1 : 0,
    })
    return { object: view, created: old === null }
  })
}

/** @throws Problem `quota_exceeded` when there may be no further object */
async function bytesLeft(deps: ServiceDeps, { drive }: OpenDrive, oldSize: number | null): Promise<number> {
  const { source } = drive
  if (source.kind !== 'managed' || (source.maxBytes === null && source.maxObjects === null)) return Infinity
  const { rows } = await deps.pool.query<{ bytes: number; objects: number }>(
    'SELECT used_bytes::float8 AS bytes, used_objects::float8 AS objects FROM drive WHERE id = $1',
    [drive.id],
  )
  const { bytes = 0, objects = 0 } = rows[0] ?? {}
  if (source.maxObjects !== null && oldSize === null && objects >= source.maxObjects) {
    throw quotaExceeded(drive.name, `it holds ${objects} of ${source.maxObjects} objects`)
  }
  return source.maxBytes === null ? Infinity : Math.max(0, source.maxBytes - bytes + (oldSize ?? 0))
}

const quotaExceeded = (name: string, figures: string): Problem =>
  new Problem('quota_exceeded', `The drive \`${name}\` has no room for it: ${figures}. Delete something, or raise the quota.`)
