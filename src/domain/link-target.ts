import { join, relative, resolve } from 'node:path/posix'

/**
 * Where a symbolic link of a mount leads within it: a path relative to the mount, or null if it leads out of it. Told by its
 * words alone; whether something is there, and no further link, is for whoever opens it.
 *
 * @param mount absolute path, as the job sees it
 * @param link path of the link, relative to the mount
 * @param target what the link says
 */
export function linkTarget(mount: string, link: string, target: string): string | null {
  const path = relative(mount, resolve(join(mount, link, '..'), target))
  return path === '' || path === '..' || path.startsWith('../') ? null : path
}
