import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { extract, type Header } from 'tar-stream'
import { SchedulerError, type CollectedFile, type MountPlace } from '../../scheduler.ts'
import { statusOf, type Engine } from '../engine.ts'
import { byStanding, findContainers, isReplica } from '../find-containers.ts'

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
      } else {
        entry.resume()
        const what = SKIPPED[header.type ?? 'file']
        if (what !== undefined) yield { kind: 'skipped', path, what }
      }
    }
  } finally {
    archive.destroy()
  }
}

/** Directories are told by their files. */
const SKIPPED: Partial<Record<NonNullable<Header['type']>, 'symlink' | 'hardlink' | 'device' | 'fifo'>> = {
  link: 'hardlink',
  symlink: 'symlink',
  'character-device': 'device',
  'block-device': 'device',
  fifo: 'fifo',
}

async function openArchive({ engine, installation, attemptId, place }: CollectSource, signal: AbortSignal): Promise<Readable> {
  const found = await findContainers(engine, { installation, attempt: attemptId }, signal)
  const replicas = found.filter(isReplica).filter(({ identity }) => identity.role === place.role && identity.index === place.index)
  const id = replicas.sort(byStanding)[0]?.id
  const gone = `the container of ${place.role}/${place.index} is gone, and what it wrote to ${place.path} with it`
  if (id === undefined) throw new SchedulerError('not_found', gone)
  try {
    return await engine.stream({ method: 'GET', path: `/containers/${id}/archive`, query: { path: place.path }, signal })
  } catch (error) {
    if (statusOf(error) === 404) throw new SchedulerError('not_found', gone, { cause: error })
    throw error
  }
}
