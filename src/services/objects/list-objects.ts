import { objectKeyFlaw } from '../../domain/drives/object-key.ts'
import { Problem } from '../../domain/problem.ts'
import { snapshotOf } from '../drives/drive-row.ts'
import type { DriveName } from '../drives/find-drive.ts'
import { pageAfter, readCursor } from '../jobs/keyset-cursor.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { objectViewOf, type ObjectView } from './object-place.ts'
import { openObjects } from './open-objects.ts'
import { seenWhole } from './seen-whole.ts'
import { withStoreProblems } from './store-problem.ts'

export interface ObjectList {
  readonly items: readonly ObjectView[]
  /** Directories at this level, ending in `/`; only where the list was asked for level by level. */
  readonly prefixes: readonly string[]
  readonly nextCursor: string | null
}

export interface Listing {
  readonly prefix: string
  readonly recursive: boolean
  readonly component: string | undefined
  readonly limit: number
  readonly cursor: string | undefined
  readonly signal: AbortSignal
}

/** A page of what lies below a prefix; nothing there is an empty page. @throws Problem `malformed_request` */
export async function listObjects(
  deps: ServiceDeps,
  name: DriveName,
  { prefix, recursive, component, limit, cursor, signal }: Listing,
): Promise<ObjectList> {
  const flaw = prefix === '' ? null : objectKeyFlaw(prefix.replace(/\/$/, ''))
  if (flaw !== null) throw new Problem('malformed_request', `The prefix ${flaw.detail}.`, { errors: [{ pointer: '?prefix', ...flaw }] })
  const list = { list: 'objects', ...name, prefix, recursive, component }
  const after = readCursor(cursor, list)
  const { drive, store } = await openObjects(deps, name, 'read', signal)
  const own = component === undefined ? '' : `${component}/`
  const page = await withStoreProblems(() =>
    seenWhole(deps, { drive: snapshotOf(drive), store, signal }, () =>
      store.list({ prefix: `${own}${prefix}`, delimiter: recursive ? null : '/', after, limit, signal }),
    ),
  )
  return {
    items: page.objects.map((object) => objectViewOf(drive, object)),
    prefixes: page.prefixes.map((each) => each.slice(own.length)),
    nextCursor: page.next === null ? null : pageAfter(page.next, list),
  }
}
