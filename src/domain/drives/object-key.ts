import type { Flaw } from '../fault.ts'

const KEY_BYTES = 1024
const PART_BYTES = 255

/**
 * What is wrong with the key of an object, decoded; null if nothing is. Such keys are safe as relative paths and are
 * kept alike by every S3 server: those differ on `..`, on empty parts and on a slash at the beginning.
 */
export function objectKeyFlaw(text: string): Flaw | null {
  if (text === '') return flaw('empty_path', text, 'must name an object')
  if (text.startsWith('/')) return flaw('absolute_path', text, 'must be relative: leave the slash at its beginning out')
  if (/[\p{Cc}\p{Surrogate}]/u.test(text)) return flaw('control_character', text, 'must not hold control characters')
  if (text.includes('\\')) return flaw('backslash', text, 'must not hold a backslash')
  if (text !== text.normalize('NFC')) return flaw('not_normalised', text, 'must be in Unicode normalisation form C')
  if (Buffer.byteLength(text) > KEY_BYTES) return flaw('path_too_long', text, `must not be longer than ${KEY_BYTES} bytes`)
  const parts = text.split('/')
  if (parts.includes('..') || parts.includes('.')) return flaw('dot_in_path', text, 'must not have . or .. as a part')
  if (parts.includes('')) return flaw('empty_path_part', text, 'must not have // in it, nor end in /')
  if (parts.some((part) => Buffer.byteLength(part) > PART_BYTES))
    return flaw('path_too_long', text, `must not have a part of more than ${PART_BYTES} bytes`)
  return parts[0] === RESERVED
    ? flaw('reserved_path', text, `must not begin with ${RESERVED}/, where Berth keeps what is not visible yet`)
    : null
}

/** Directory of a drive that no object can be in. */
export const RESERVED = '.berth'

const flaw = (code: string, text: string, rule: string): Flaw => ({
  code,
  detail: `"${text.length > 80 ? `${text.slice(0, 79)}…` : text}" ${rule}`,
})
