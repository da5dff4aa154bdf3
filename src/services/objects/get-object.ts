import type { Readable } from 'node:stream'
import { Problem } from '../../domain/problem.ts'
import type { ByteRange, ObjectInfo } from '../../stores/object-store.ts'
import type { DriveName } from '../drives/find-drive.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { findObject, objectViewOf, type ObjectName, type ObjectView } from './object-place.ts'
import { openObjects, type OpenDrive } from './open-objects.ts'
import { withStoreProblems } from './store-problem.ts'

const LOOK_MS = 1_000

export interface Wanted extends ObjectName {
  /** How long to wait for it to appear. */
  readonly waitSeconds: number
  readonly signal: AbortSignal
}

export interface FoundObject {
  readonly object: ObjectView
  /** Exactly this version of it, or an error. */
  read(range: ByteRange | null): Promise<Readable>
}

/** @throws Problem `not_found`, after the wait; `ambiguous_object`, `operation_unsupported` */
export async function getObject(deps: ServiceDeps, name: DriveName, wanted: Wanted): Promise<FoundObject> {
  const opened = await openObjects(deps, name, 'read', wanted.signal)
  return withStoreProblems(async () => {
    const info = await appears(deps, opened, wanted)
    if (info === null) {
      const waited = wanted.waitSeconds > 0 ? ` after ${wanted.waitSeconds} s` : ''
      throw new Problem('not_found', `There is no object \`${wanted.path}\` on the drive \`${name.name}\`${waited}.`)
    }
    const read = async (range: ByteRange | null): Promise<Readable> => {
      const options = { ifMatch: info.etag, signal: wanted.signal, ...(range !== null && { range }) }
      return withStoreProblems(() => opened.store.read(info.key, options))
    }
    return { object: objectViewOf(opened.drive, info), read }
  })
}

/** Jobs may write behind our back, so that a signal is not all there is to wait for. */
async function appears(deps: ServiceDeps, opened: OpenDrive, wanted: Wanted): Promise<ObjectInfo | null> {
  const bell = deps.signals.listen(`drive:${opened.drive.id}`)
  const until = performance.now() + wanted.waitSeconds * 1000
  try {
    for (;;) {
      const info = await findObject(opened, wanted, wanted.signal)
      const left = until - performance.now()
      if (info !== null || left <= 0 || wanted.signal.aborted) return info
      await bell.next(Math.min(left, LOOK_MS), wanted.signal)
    }
  } finally {
    bell.close()
  }
}
