import type { Drive } from '../../domain/drives/drive.ts'
import { objectKeyFlaw } from '../../domain/drives/object-key.ts'
import { Problem } from '../../domain/problem.ts'
import type { ObjectInfo, ObjectStore } from '../../stores/object-store.ts'

/** An object as a client names it: on a drive that belongs to its producers, with the component that made it. */
export interface ObjectName {
  readonly path: string
  readonly component: string | undefined
}

const MOST_COMPONENTS = 1000

/** Whether each producer has a directory of its own. */
export const isByComponent = ({ source }: Drive): boolean => source.kind === 'managed' && source.ownership === 'component'

/** The key to write to. @throws Problem `malformed_request`, `producer_required` */
export function keyToWrite(drive: Drive, { path, component }: ObjectName): string {
  const key = checkedKey(path)
  if (!isByComponent(drive)) return key
  if (component === undefined)
    throw new Problem('producer_required', `Objects of \`${drive.name}\` belong to their producers: say which by ?component=.`)
  return checkedKey(`${component}/${key}`)
}

/** A key that is safe. @throws Problem `malformed_request` */
export function checkedKey(key: string): string {
  const flaw = objectKeyFlaw(key)
  if (flaw === null) return key
  throw new Problem('malformed_request', `The path of the object ${flaw.detail}.`, { errors: [{ pointer: '', ...flaw }] })
}

/**
 * The one object that is meant, or null if there is none yet.
 *
 * @throws Problem `ambiguous_object` with the components that have it, when none was named
 */
export async function findObject(
  { drive, store }: { drive: Drive; store: ObjectStore },
  { path, component }: ObjectName,
  signal: AbortSignal,
): Promise<ObjectInfo | null> {
  const key = checkedKey(path)
  if (!isByComponent(drive)) return store.head(key, signal)
  if (component !== undefined) return store.head(checkedKey(`${component}/${key}`), signal)
  const found: ObjectInfo[] = []
  for (const prefix of await components(store, signal)) {
    const object = await store.head(`${prefix}${key}`, signal)
    if (object !== null) found.push(object)
  }
  if (found.length <= 1) return found[0] ?? null
  const candidates = found.map((object) => componentOf(drive, object.key))
  throw new Problem('ambiguous_object', `These components have \`${path}\`: ${candidates.join(', ')}. Name one by ?component=.`, {
    errors: candidates.map((candidate) => ({ pointer: '?component', code: 'candidate', detail: String(candidate) })),
  })
}

async function components(store: ObjectStore, signal: AbortSignal): Promise<readonly string[]> {
  return (await store.list({ prefix: '', delimiter: '/', after: null, limit: MOST_COMPONENTS, signal })).prefixes
}

/** Who made an object; null where that is not told. */
const componentOf = (drive: Drive, key: string): string | null => (isByComponent(drive) ? (key.split('/')[0] ?? null) : null)

/** An object as the API shows it. */
export interface ObjectView {
  readonly path: string
  readonly component: string | null
  readonly size: number
  readonly etag: string
  readonly sha256: string | null
  readonly contentType: string | null
  readonly modifiedAt: string
}

export function objectViewOf(drive: Drive, { key, size, etag, sha256, contentType, modifiedAt }: ObjectInfo): ObjectView {
  const component = componentOf(drive, key)
  const path = component === null ? key : key.slice(component.length + 1)
  return { path, component, size, etag, sha256, contentType, modifiedAt: modifiedAt.toISOString() }
}
