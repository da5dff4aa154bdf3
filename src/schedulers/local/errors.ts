import { SchedulerError } from '../scheduler.ts'

/**
 * What an error of the file system or of a process start means, told by its code. Whatever is not known is
 * `unavailable`: nothing is known, try again.
 *
 * @param doing what was being done, such as `making the folder of trainer/0`.
 */
export function toSchedulerError(error: unknown, doing: string): SchedulerError {
  if (error instanceof SchedulerError) return error
  const code = errorCode(error)
  const words = code === null ? String(error) : (MEANINGS[code] ?? code)
  return new SchedulerError(code === 'ENOENT' ? 'not_found' : 'unavailable', `${doing}: ${words}`, { cause: error })
}

/** `ENOENT` and its like; null if the error has none. */
export function errorCode(error: unknown): string | null {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return typeof code === 'string' ? code : null
}

/** Gives `fallback` where a file is not there, or no longer. */
export function unlessMissing<T>(fallback: T): (error: unknown) => T {
  return (error) => {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return fallback
    throw error
  }
}

const MEANINGS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full: make room under the data folder',
  EDQUOT: 'the disk quota is used up: make room under the data folder',
  EROFS: 'the data folder is read-only: mount it writable',
  EACCES: 'no permission: let the worker own its data folder',
  EPERM: 'not permitted: let the worker own its data folder',
  EMFILE: 'too many open files: raise the limit of the worker (ulimit -n)',
  ENFILE: 'the machine has too many open files',
  EAGAIN: 'the machine has no room for another process',
  ENOMEM: 'the machine is out of memory',
  EIO: 'the disk does not work',
  ENOENT: 'it is not there',
}
