import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pack } from 'tar-stream'
import { newId } from '../../domain/id.ts'
import { Problem } from '../../domain/problem.ts'
import type { ObjectInfo } from '../../stores/object-store.ts'
import type { DriveName } from '../drives/find-drive.ts'
import { snapshotOf } from '../drives/drive-row.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { readArchive } from './read-archive.ts'
import { abandonBatch, commitBatch } from './commit-batch.ts'
import type { DriveObjects } from './finish-commits.ts'
import { checkedKey, isByComponent } from './object-place.ts'
import { objectsBelow } from './objects-below.ts'
import { openObjects } from './open-objects.ts'
import { seenWhole } from './seen-whole.ts'
import { withStoreProblems } from './store-problem.ts'

/** The same objects give the same archive, whenever they were written. */
const NO_TIME = new Date(0)

export interface ArchivePlace {
  /** Directory of the drive, without a slash at its end; empty for all of it. */
  readonly prefix: string
  readonly signal: AbortSignal
}

/** All objects below a directory as a tar stream, by name. @throws Problem before the first byte; later the stream breaks */
export async function getArchive(deps: ServiceDeps, name: DriveName, { prefix, signal }: ArchivePlace): Promise<Readable> {
  const opened = await openObjects(deps, name, 'read', signal)
  const root = prefix === '' ? '' : `${checkedKey(prefix)}/`
  const archive = pack({ highWaterMark: 1024 * 1024 })
  const place = { drive: snapshotOf(opened.drive), store: opened.store, signal }
  const objects = await withStoreProblems(() => seenWhole(deps, place, () => allBelow(place, root)))
  void fill(archive, place, { objects, root }).then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))),
  )
  return archive as unknown as Readable
}

async function allBelow({ store, signal }: DriveObjects, root: string): Promise<ObjectInfo[]> {
  const all: ObjectInfo[] = []
  for await (const object of objectsBelow(store, root, signal)) all.push(object)
  return all
}

async function fill(
  archive: ReturnType<typeof pack>,
  { store, signal }: DriveObjects,
  { objects, root }: { objects: readonly ObjectInfo[]; root: string },
): Promise<void> {
  for (const { key, etag, size } of objects) {
    const body = await store.read(key, { ifMatch: etag, signal })
    const entry = archive.entry({ name: key.slice(root.length), size, mode: 0o644, mtime: NO_TIME })
    await pipeline(body, entry)
  }
}

export interface NewArchive extends ArchivePlace {
  readonly body: Readable
  readonly onConflict: 'fail' | 'replace' | 'keep'
  readonly component: string | undefined
}

/**
 * Puts all files of a tar stream on a drive; all of them become visible together, or none.
 *
 * @throws Problem `bad_archive` for whatever is no plain file or directory in its place, `precondition_failed`, `quota_exceeded`
 */
export async function putArchive(deps: ServiceDeps, name: DriveName, archive: NewArchive): Promise<{ objects: number; bytes: number }> {
  const { prefix, signal, onConflict, component, body } = archive
  const { drive, store } = await openObjects(deps, name, onConflict === 'replace' ? 'change' : 'create', signal)
  if (isByComponent(drive) && component === undefined) {
    throw new Problem('producer_required', `Objects of \`${drive.name}\` belong to their producers: say which by ?component=.`)
  }
  const root = [isByComponent(drive) ? component : undefined, prefix].filter((part) => part !== undefined && part !== '').join('/')
  const batchId = newId('evt')
  const batch = store.batch(batchId)
  const place = { drive: snapshotOf(drive), store, batchId }
  return withStoreProblems(async () => {
    try {
      await readArchive(body, {
        signal,
        file: async (path, content) => {
          await batch.write(checkedKey(root === '' ? path : `${root}/${path}`), content, { signal })
        },
      })
      const { count, bytes } = await commitBatch(deps, { ...place, onConflict, signal })
      return { objects: count, bytes }
    } catch (error) {
      await abandonBatch(deps, { ...place, signal: AbortSignal.timeout(30_000) }).catch(() => undefined)
      throw error
    }
  })
}
