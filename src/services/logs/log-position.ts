import type { LogStream } from '../../domain/attempt.ts'
import { Problem } from '../../domain/problem.ts'

/** How far each stream of each replica of one attempt has been read, in bytes. What is not in it is at 0. */
export class LogPosition {
  readonly attempt: number
  readonly #offsets: Map<string, number>

  constructor(attempt: number, offsets: ReadonlyMap<string, number> = new Map()) {
    this.attempt = attempt
    this.#offsets = new Map(offsets)
  }

  /** @throws Problem `malformed_request` for a text that `toString` did not make */
  static parse(cursor: string): LogPosition {
    try {
      const [attempt, entries] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [unknown, unknown]
      if (typeof attempt === 'number' && Number.isInteger(attempt) && attempt > 0 && isEntries(entries))
        return new LogPosition(attempt, new Map(entries))
    } catch {
      // Not JSON: as wrong as JSON of another shape.
    }
    const detail = 'give a cursor that this address gave, or leave it out'
    throw new Problem('malformed_request', 'the cursor is not one of a log', {
      errors: [{ pointer: '?cursor', code: 'bad_cursor', detail }],
    })
  }

  copy(): LogPosition {
    return new LogPosition(this.attempt, this.#offsets)
  }

  offset(role: string, index: number, stream: LogStream): number {
    return this.#offsets.get(keyOf(role, index, stream)) ?? 0
  }

  advance(role: string, index: number, stream: LogStream, offset: number): void {
    this.#offsets.set(keyOf(role, index, stream), offset)
  }

  /** This position with one stream moved, as a cursor. */
  cursorAt(role: string, index: number, stream: LogStream, offset: number): string {
    const moved = new Map(this.#offsets).set(keyOf(role, index, stream), offset)
    return Buffer.from(JSON.stringify([this.attempt, [...moved]])).toString('base64url')
  }
}

const keyOf = (role: string, index: number, stream: LogStream): string => `${role}/${index}/${stream}`

const isEntries = (value: unknown): value is [string, number][] =>
  Array.isArray(value) &&
  value.every(
    (entry) =>
      Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string' && Number.isSafeInteger(entry[1]) && entry[1] >= 0,
  )
