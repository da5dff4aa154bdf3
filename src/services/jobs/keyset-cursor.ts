import { createHash } from 'node:crypto'
import { Problem } from '../../domain/problem.ts'

/** The cursor of the page after `key`, bound to the list that it came from. Opaque to clients. */
export function pageAfter(key: string | undefined, list: object): string | null {
  return key === undefined ? null : Buffer.from(`${fingerprint(list)}.${key}`).toString('base64url')
}

/**
 * The key that a page begins after, or null for the first page.
 *
 * @throws Problem `malformed_request` for a cursor that this list did not give
 */
export function readCursor(cursor: string | undefined, list: object): string | null {
  if (cursor === undefined) return null
  const text = Buffer.from(cursor, 'base64url').toString()
  const dot = text.indexOf('.')
  if (dot > 0 && text.slice(0, dot) === fingerprint(list)) return text.slice(dot + 1)
  const detail = 'give the nextCursor of the page before, with the same filters, or leave it out'
  throw new Problem('malformed_request', 'the cursor is not one of this list', {
    errors: [{ pointer: '?cursor', code: 'bad_cursor', detail }],
  })
}

const fingerprint = (list: object): string => createHash('sha256').update(JSON.stringify(list)).digest('base64url').slice(0, 8)
