import picomatch from 'picomatch'
import type { Outputs } from './mount.ts'

/** Neither extended patterns nor braces: what a client writes must not be able to take long to match. */
const OPTIONS = { dot: true, noextglob: true, nobrace: true } as const

/** Whether a file, by its path relative to the mount, is one of the outputs. */
export function outputFilter({ include, exclude }: Pick<Outputs, 'include' | 'exclude'>): (path: string) => boolean {
  const isIncluded = include.length === 0 ? () => true : picomatch([...include], OPTIONS)
  const isExcluded = exclude.length === 0 ? () => false : picomatch([...exclude], OPTIONS)
  return (path) => isIncluded(path) && !isExcluded(path)
}
