import { once } from 'node:events'
import { join } from 'node:path/posix'
import type { Readable } from 'node:stream'
import { extract, type Header } from 'tar-stream'
import { linkTarget } from '../../../domain/link-target.ts'
import { SchedulerError, type CollectedBody, type CollectedFile, type MountPlace } from '../../scheduler.ts'
import { statusOf, type Engine } from '../engine.ts'
import { byStanding, findContainers, isReplica } from '../find-containers.ts'
import { isTorn } from '../status.ts'

export interface CollectSource {
  readonly engine: Engine
  readonly installation: string
  readonly attemptId: string
  readonly place: MountPlace
}

/** The files below a mount of a replica, running or ended, as the daemon gives them. */
export async function* collectFiles(source: CollectSource, signal: AbortSignal): AsyncGenerator<CollectedFile> {
  const archive = await openArchive(source, signal)
  const entries = extract()
  const links: { path: string; header: Header }[] = []
  archive.once('error', (error) => entries.destroy(error))
  archive.pipe(entries as unknown as NodeJS.WritableStream)
  try {
    for await (const entry of entries) {
      const { header } = entry
      const path = header.name.split('/').slice(1).join('/').replace(/\/$/, '')
      if (header.type === 'file') {
        const body = entry as unknown as Readable
        yield { kind: 'file', path, size: header.size ?? 0, body }
        if (!body.destroyed && !body.readableEnded) {
          body.resume()
          await once(body, 'end')
        }
        continue
      }
      entry.resume()
      const what = SKIPPED[header.type ?? 'file']
      if (what !== undefined) yield { kind: 'skipped', path, what }
      if (header.type === 'symlink' || header.type === 'link') links.push({ path, header })
    }
  } finally {
    archive.destroy()
  }
  for (const link of links) yield* collectLink(source, link, signal)
}

/** The daemon holds a container while it gives an archive of it, so that links are opened afterwards. */
async function* collectLink(
  source: CollectSource,
  { path, header }: { path: string; header: Header },
  signal: AbortSignal,
): AsyncGenerator<CollectedFile> {
  if (header.type === 'symlink') {
    const target = linkTarget(source.place.path, path, header.linkname ?? '/')
    yield { kind: 'symlink', path, follow: async () => (target === null ? null : openFile(source, target, signal)) }
    return
  }
  // The archive has what a file with two names holds only once.
  const file = await openFile(source, path, signal)
  if (file !== null) yield { kind: 'file', path, ...file }
}

/** One regular file below the mount; null if there is none. Docker resolves links on the way within the container. */
async function openFile(source: CollectSource, path: string, signal: AbortSignal): Promise<CollectedBody | null> {
  const archive = await openArchive(source, signal, path).catch((error: unknown) => {
    // Gone, or a circle of links, which is an error of the daemon's own.
    if (error instanceof SchedulerError ? error.kind === 'not_found' : statusOf(error) !== null) return null
    throw error
  })
  if (archive === null) return null
  const entries = extract()
  archive.once('error', (error) => entries.destroy(error))
  archive.pipe(entries as unknown as NodeJS.WritableStream)
  for await (const entry of entries) {
    const body = entry as unknown as Readable
    body.once('close', () => archive.destroy())
    if (entry.header.type === 'file') return { size: entry.header.size ?? 0, body }
    break
  }
  archive.destroy()
  return null
}

/** Directories are told by their files. */
const SKIPPED: Partial<Record<NonNullable<Header['type']>, 'device' | 'fifo'>> = {
  'character-device': 'device',
  'block-device': 'device',
  fifo: 'fifo',
}

async function openArchive({ engine, installation, attemptId, place }: CollectSource, signal: AbortSignal, below = '.'): Promise<Readable> {
  const found = await findContainers(engine, { installation, attempt: attemptId }, signal)
  const replicas = found.filter(isReplica).filter(({ identity }) => identity.role === place.role && identity.index === place.index)
  const [replica] = replicas.sort(byStanding)
  const gone = `the container of ${place.role}/${place.index} is gone, and what it wrote to ${place.path} with it`
  if (replica === undefined || isTorn({ Status: replica.status })) throw new SchedulerError('not_found', gone)
  const query = { path: join(place.path, below) }
  try {
    return await engine.stream({ method: 'GET', path: `/containers/${replica.id}/archive`, query, signal })
  } catch (error) {
    if (statusOf(error) === 404) throw new SchedulerError('not_found', gone, { cause: error })
    throw error
  }
}
