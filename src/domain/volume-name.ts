import type { Flaw } from './fault.ts'

/** What a volume may be called, on every scheduler alike. */
export const VOLUME_NAME = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{1,127}$/

/** What is wrong with the name of a volume, or null. */
export function volumeNameFlaw(name: string): Flaw | null {
  if (VOLUME_NAME.test(name)) return null
  const hint = name.includes('/') ? '; for a directory of the machine use a bind' : ''
  return {
    code: 'bad_volume_name',
    detail: `"${name.slice(0, 80)}" must be 2 to 128 letters, digits, "_", "." or "-", beginning with a letter or digit${hint}`,
  }
}
