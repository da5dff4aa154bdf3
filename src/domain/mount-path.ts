import type { Flaw } from './fault.ts'
import type { MountType } from './mount.ts'
import { REQUEST_LIMITS } from './request-limits.ts'

/** What is wrong with a path, whatever it is for; null if it is absolute and says plainly where it leads. */
export function pathFlaw(text: string): Flaw | null {
  if (text.startsWith('~')) return flaw('home_path', text, 'must not begin with ~: the service has no home directory; give the whole path')
  if (!text.startsWith('/')) return flaw('relative_path', text, 'must be absolute: begin it with /')
  if (Buffer.byteLength(text) > REQUEST_LIMITS.pathBytes) {
    return flaw('path_too_long', text, `must not be longer than ${REQUEST_LIMITS.pathBytes} bytes`)
  }
  if (/\p{Cc}/u.test(text)) return flaw('control_character', text, 'must not hold control characters')
  const parts = text.slice(1).split('/')
  if (parts.includes('..') || parts.includes('.')) return flaw('dot_in_path', text, 'must not have . or .. as a part')
  if (parts.slice(0, -1).includes('')) return flaw('empty_path_part', text, 'must not have // in it')
  if (parts.some((part) => Buffer.byteLength(part) > 255)) return flaw('path_too_long', text, 'must not have a part of more than 255 bytes')
  return null
}

/** What is wrong with a place in a role's file system where this type of mount should appear; null if nothing is. */
export function targetFlaw(text: string, type: MountType): Flaw | null {
  const wrong = pathFlaw(text)
  if (wrong !== null) return wrong
  const path = plainPath(text)
  if (path === '/') return flaw('reserved_path', text, 'must not be the root itself: mount a directory below it')
  if (path === '/dev/shm') return type === 'tmpfs' ? null : flaw('reserved_path', text, 'can only be a tmpfs, or use resources.shmMiB')
  if (type === 'device' && isUnder('/dev', path)) return null
  const reserved = RESERVED_TREES.find((tree) => path === tree || isUnder(tree, path)) ?? RESERVED_FILES.find((file) => path === file)
  return reserved === undefined ? null : flaw('reserved_path', text, `must lie elsewhere: ${reserved} belongs to the system of the replica`)
}

/** A path without the slash at its end. Only for paths without flaw. */
export const plainPath = (path: string): string => (path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path)

/** Whether a path lies strictly below a directory, told by whole parts: `/ab` is not under `/a`. Both without flaw. */
export function isUnder(directory: string, path: string): boolean {
  const root = plainPath(directory)
  return path !== root && path.startsWith(root === '/' ? root : `${root}/`)
}

/** A mount of a role, and where in the role the client wrote it: `['mounts', 0]`. */
export interface WrittenPath {
  readonly path: string
  readonly at: readonly PropertyKey[]
  /** Others may lie inside of it. */
  readonly allowNested: boolean
}

/** Mounts of one role that would hide each other: the same path twice, or one path inside another. Told of the later one. */
export function overlapFlaws(mounts: readonly WrittenPath[]): (Flaw & { readonly path: readonly PropertyKey[] })[] {
  return mounts.flatMap(({ path, at, allowNested }, index) => {
    const earlier = mounts.slice(0, index)
    const same = earlier.find((other) => other.path === path)
    if (same !== undefined) {
      return [{ path: at, code: 'duplicate_path', detail: `"${path}" is taken by ${same.at.join('/')}: give each mount its own path` }]
    }
    const around = earlier.find((other) => (isUnder(other.path, path) && !other.allowNested) || (isUnder(path, other.path) && !allowNested))
    if (around === undefined) return []
    const [inner, outer] = isUnder(around.path, path) ? [path, around.path] : [around.path, path]
    const detail = `"${inner}" lies inside "${outer}", another mount of the role: put them side by side, or say allowNested on ` +
      `a drive that is the outer one`
    return [{ path: at, code: 'nested_path', detail }]
  })
}

const RESERVED_TREES = ['/proc', '/sys', '/dev']
const RESERVED_FILES = ['/etc/hosts', '/etc/hostname', '/etc/resolv.conf', '/run/docker.sock', '/var/run/docker.sock', '/.dockerenv']

const flaw = (code: string, text: string, rule: string): Flaw => ({ code, detail: `"${shortened(text)}" ${rule}` })

const shortened = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text)
