import { constants, type Dirent } from 'node:fs'
import { open, readdir, readlink, type FileHandle } from 'node:fs/promises'
import { linkTarget } from '../../domain/link-target.ts'
import { SchedulerError, type CollectedBody, type CollectedFile, type CollectedLink } from '../scheduler.ts'
import { errorCode } from './errors.ts'

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** Without O_NONBLOCK a fifo would hold us up. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

export interface CollectedPlace {
  /** Of this machine. */
  readonly directory: string
  /** Where the job sees it. */
  readonly path: string
}

/** Every regular file below a directory that a job may change meanwhile. */
export async function* collectFiles({ directory, path }: CollectedPlace, signal: AbortSignal): AsyncGenerator<CollectedFile> {
  const root = await open(directory, DIRECTORY).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error
    throw new SchedulerError('not_found', `${directory} is gone`, { cause: error })
  })
  try {
    for await (const found of walk(root, '', signal))
      yield found.kind === 'symlink' ? { ...found, follow: () => openTarget(root, linkTarget(path, found.path, found.target)) } : found
  } finally {
    await root.close()
  }
}

type Found = Exclude<CollectedFile, CollectedLink> | { readonly kind: 'symlink'; readonly path: string; readonly target: string }

async function* walk(directory: FileHandle, path: string, signal: AbortSignal): AsyncGenerator<Found> {
  const at = (name: string): string => `/proc/self/fd/${directory.fd}/${name}`
  const entries = (await readdir(at('.'), { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    signal.throwIfAborted()
    const own = `${path}${entry.name}`
    if (entry.isDirectory()) {
      const inner = await open(at(entry.name), DIRECTORY).catch(() => null)
      if (inner === null) continue
      try {
        yield* walk(inner, `${own}/`, signal)
      } finally {
        await inner.close()
      }
    } else if (entry.isFile()) yield* fileAt(at(entry.name), own)
    else if (entry.isSymbolicLink()) yield { kind: 'symlink', path: own, target: await readlink(at(entry.name)).catch(() => '/') }
    else yield { kind: 'skipped', path: own, what: kindOf(entry) }
  }
}

async function* fileAt(address: string, path: string): AsyncGenerator<Found> {
  const handle = await open(address, FILE).catch(() => null)
  if (handle === null) return
  try {
    const file = await bodyOf(handle)
    yield { kind: 'file', path, ...file }
    file.body.destroy()
  } finally {
    await handle.close()
  }
}

/** A file that grows is given as long as it was; one that shrinks ends earlier. */
async function bodyOf(handle: FileHandle): Promise<CollectedBody> {
  const { size } = await handle.stat()
  return { size, body: handle.createReadStream({ highWaterMark: 1024 * 1024, end: Math.max(0, size - 1) }) }
}

/** Goes down step by step, so that no link on the way is followed. */
async function openTarget(root: FileHandle, path: string | null): Promise<CollectedBody | null> {
  const parts = path?.split('/') ?? []
  const name = parts.pop()
  if (name === undefined) return null
  const opened: FileHandle[] = []
  try {
    let directory = root
    for (const part of parts) opened.push((directory = await open(`/proc/self/fd/${directory.fd}/${part}`, DIRECTORY)))
    const handle = await open(`/proc/self/fd/${directory.fd}/${name}`, FILE)
    // Its stream closes it.
    if ((await handle.stat()).isFile()) return await bodyOf(handle)
    await handle.close()
    return null
  } catch {
    return null
  } finally {
    await Promise.all(opened.map((each) => each.close()))
  }
}

function kindOf(entry: Dirent): 'device' | 'fifo' | 'socket' {
  if (entry.isFIFO()) return 'fifo'
  return entry.isSocket() ? 'socket' : 'device'
}
