/**
 * One thing that is wrong with what a client sent.
 *
 * `pointer` is an RFC 6901 JSON pointer into the request body (`''` is the whole body), or `?name`
 * for a query parameter. `code` is stable; `detail` says what is wrong and what would be right.
 */
export interface Fault {
  readonly pointer: string
  readonly code: string
  readonly detail: string
}

/** The RFC 6901 pointer to a path of keys and indexes, with `~` and `/` escaped. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** A fault that does not know yet where in the body it stands. */
export type Flaw = Omit<Fault, 'pointer'>

/** What reading a client's words gives: the value, or everything that is wrong with them. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly faults: readonly Fault[] }
