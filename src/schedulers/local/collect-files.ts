import { constants, type Dirent } from 'node:fs'
import { open, readdir, type FileHandle } from 'node:fs/promises'
import { SchedulerError, type CollectedFile } from '../scheduler.ts'
import { errorCode } from './errors.ts'

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
/** Without O_NONBLOCK a fifo would hold us up. */
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Every regular file below a directory that a job may change meanwhile; no link is followed. */
export async function* collectFiles(directory: string, signal: AbortSignal): AsyncGenerator<CollectedFile> {
  const root = await open(directory, DIRECTORY).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error
    throw new SchedulerError('not_found', `${directory} is gone`, { cause: error })
  })
  try {
    yield* walk(root, '', signal)
  } finally {
    await root.close()
  }
}

async function* walk(directory: FileHandle, path: string, signal: AbortSignal): AsyncGenerator<CollectedFile> {
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
    else yield { kind: 'skipped', path: own, what: kindOf(entry) }
  }
}

async function* fileAt(address: string, path: string): AsyncGenerator<CollectedFile> {
  const handle = await open(address, FILE).catch(() => null)
  if (handle === null) return
  try {
    const { size } = await handle.stat()
    // A file that grows is given as long as it was; one that shrinks ends earlier.
    const body = handle.createReadStream({ highWaterMark: 1024 * 1024, end: Math.max(0, size - 1) })
    yield { kind: 'file', path, size, body }
    body.destroy()
  } finally {
    await handle.close()
  }
}

function kindOf(entry: Dirent): 'symlink' | 'device' | 'fifo' | 'socket' {
  if (entry.isSymbolicLink()) return 'symlink'
  if (entry.isFIFO()) return 'fifo'
  return entry.isSocket() ? 'socket' : 'device'
}
