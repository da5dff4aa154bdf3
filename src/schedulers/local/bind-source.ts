import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import type { BindRoot } from '../../domain/capabilities.ts'
import { isUnder } from '../../domain/mount-path.ts'
import { SchedulerError } from '../scheduler.ts'
import { errorCode } from './errors.ts'

/**
 * Opens the source of a bind mount below one of the operator's roots and gives its descriptor, which the caller closes.
 * Check and use are one: each part is opened relative to the part before and without following links, and what was
 * opened is what gets mounted, whatever the path leads to by then. Throws `rejected` with `mount_failed`.
 */
export function openBindSource(path: string, access: 'ro' | 'rw', roots: readonly BindRoot[]): number {
  const allowed = roots.find(({ root, readOnly }) => (path === root || isUnder(root, path)) && (access === 'ro' || !readOnly))
  if (allowed === undefined || path.split('/').includes('..')) {
    throw refusal(`${path}: not below a folder that this scheduler may bind with access ${access}`)
  }
  const parts = path.slice(allowed.root.length).split('/').filter((part) => part !== '')
  let descriptor = openPart(allowed.root, OPEN_ROOT, path)
  for (const part of parts) {
    const outer = descriptor
    try {
      descriptor = openPart(`/proc/self/fd/${outer}/${part}`, OPEN_PART, path)
    } finally {
      closeSync(outer)
    }
  }
  const facts = fstatSync(descriptor)
  if (facts.isDirectory() || facts.isFile()) return descriptor
  closeSync(descriptor)
  throw refusal(`${path}: ${facts.isSymbolicLink() ? 'links are not followed' : 'only folders and files can be mounted'}`)
}

function openPart(path: string, flags: number, whole: string): number {
  try {
    return openSync(path, flags)
  } catch (cause) {
    const code = errorCode(cause)
    throw refusal(`${whole}: ${(code !== null && UNOPENED[code]) || `it cannot be opened (${code})`}`, cause)
  }
}

/** Linux's O_PATH, which Node does not name: a handle on the place itself, without opening a device or a fifo. */
const O_PATH = 0o10000000
const OPEN_ROOT = O_PATH | constants.O_DIRECTORY
const OPEN_PART = O_PATH | constants.O_NOFOLLOW

const UNOPENED: Readonly<Record<string, string>> = {
  ENOENT: 'it is not there',
  ENOTDIR: 'links are not followed',
  ELOOP: 'links are not followed',
}

const refusal = (message: string, cause?: unknown): SchedulerError =>
  new SchedulerError('rejected', message, { failure: 'mount_failed', cause })
