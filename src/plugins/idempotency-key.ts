import { createHash } from 'node:crypto'
import { Problem } from '../domain/problem.ts'

/** A repeatable request: its key, and the SHA-256 of its body in canonical form. */
export interface Idempotency {
  readonly key: string
  readonly fingerprint: string
}

const MAX_LENGTH = 255
const QUOTED = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
const BARE = /^[\x21\x23-\x2b\x2d-\x7e]+$/

/**
 * Reads `Idempotency-Key`: a structured-field string (RFC 9651) or a bare token, 1 to 255 printable characters.
 * Null without the header.
 *
 * @throws Problem `malformed_request`
 */
export function readIdempotency(header: string | string[] | undefined, body: unknown): Idempotency | null {
  if (header === undefined) return null
  const key = typeof header === 'string' ? parseKey(header.trim()) : null
  if (key === null || key.length === 0 || key.length > MAX_LENGTH) {
    throw new Problem(
      'malformed_request',
      'Idempotency-Key must be one string of 1 to 255 printable ASCII characters, such as "8e03978e-40d5-43dd".',
    )
  }
  return { key, fingerprint: createHash('sha256').update(canonicalJson(body)).digest('hex') }
}

function parseKey(text: string): string | null {
  const quoted = QUOTED.exec(text)?.[1]
  if (quoted !== undefined) return quoted.replace(/\\(["\\])/g, '$1')
  return BARE.test(text) ? text : null
}

/** JSON with the keys of every object in order, so that equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => (isPlainObject(part) ? sortedByKey(part) : part)) ?? 'null'
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const sortedByKey = (object: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
