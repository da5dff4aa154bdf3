import { isUtf8 } from 'node:buffer'
import type { LogRecord } from '../domain/job-view.ts'
import { LogPosition } from '../services/logs/log-position.ts'

/** One line of output on the wire: `text`, or `base64` when it is not UTF-8, without its newline. */
export interface LogLine {
  readonly attempt: number
  readonly role: string
  readonly replica: number
  readonly stream: LogRecord['stream']
  readonly at: string
  /** Reading from it goes on right after this line; null where that is not told. */
  readonly cursor: string | null
  readonly text?: string
  readonly base64?: string
  /** No newline follows: it goes on in the next line of the same stream, or output ended here. */
  readonly partial?: true
}

/** The begun line of one stream. */
interface Pending {
  /** The last record that added to it. */
  readonly record: LogRecord
  readonly parts: Uint8Array[]
  readonly size: number
  /** Position in its stream right after it. */
  readonly end: number
}

const NEWLINE = 10
/** A longer line is given in pieces. */
const MAX_LINE_BYTES = 1024 * 1024
/** Of all unfinished lines together, however many replicas there are. */
const MAX_PENDING_BYTES = 4 * 1024 * 1024
/** With many replicas a cursor is long: then only the last line of each record has one. */
const LONG_CURSOR = 512

/** Lines at once on their way to a client. */
const BATCH = 500

/** The records of a source as lines. */
export async function* linesOf(records: AsyncIterator<LogRecord>): AsyncGenerator<Iterable<LogLine>> {
  const lines = new LogLines()
  try {
    for (let next = await records.next(); next.done !== true; next = await records.next()) yield lines.add(next.value)
    yield lines.end()
  } finally {
    await records.return?.()
  }
}

/** The same lines by handfuls, so that one record full of them does not become one huge write. */
export async function* inBatches(source: AsyncIterable<Iterable<LogLine>>): AsyncGenerator<LogLine[]> {
  for await (const lines of source) {
    let batch: LogLine[] = []
    for (const line of lines) {
      batch.push(line)
      if (batch.length === BATCH) {
        yield batch
        batch = []
      }
    }
    if (batch.length > 0) yield batch
  }
}

/**
 * Cuts records, which begin and end anywhere, into lines: per replica and stream, so that neither lines nor
 * characters are torn apart. Gives back every byte. Each cursor counts what is held back here as not yet read.
 */
export class LogLines {
  readonly #pending = new Map<string, Pending>()
  #held = 0
  /** Right after the newest record. */
  #cursor = ''
  #attempt = 0

  /** What is left without a newline, when no more output comes. */
  end(): LogLine[] {
    return [...this.#pending.values()].map(({ record, end }) => this.#piece(record, this.#take(record), end))
  }

  /** Lines that this record ends, in order. */
  *add(record: LogRecord): Generator<LogLine> {
    if (record.attempt !== this.#attempt) yield* this.end()
    this.#attempt = record.attempt
    const { role, replica, stream, bytes } = record
    this.#cursor = record.cursorAt(bytes.length)
    const end = LogPosition.parse(this.#cursor).offset(role, replica, stream)
    const position = this.#givenPosition()
    const last = bytes.lastIndexOf(NEWLINE)
    let from = 0
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      const told = at === last || this.#cursor.length <= LONG_CURSOR
      const cursor = told ? position.cursorAt(role, replica, stream, end - bytes.length + at + 1) : null
      yield { ...lineOf(record, cursor), ...contentOf(this.#take(record, bytes.subarray(from, at))) }
      from = at + 1
    }
    if (from < bytes.length) yield* this.#hold(record, bytes.subarray(from), end)
  }

  *#hold(record: LogRecord, bytes: Uint8Array, end: number): Generator<LogLine> {
    const size = this.#keep(record, bytes, end)
    if (size < MAX_LINE_BYTES && this.#held < MAX_PENDING_BYTES) return
    const whole = this.#take(record)
    const cut = wholeCharacters(whole)
    if (cut < whole.length) this.#keep(record, whole.subarray(cut), end)
    yield this.#piece(record, whole.subarray(0, cut), end - whole.length + cut)
  }

  #keep(record: LogRecord, bytes: Uint8Array, end: number): number {
    const { parts, size } = this.#pending.get(keyOf(record)) ?? { parts: [] as Uint8Array[], size: 0 }
    // A copy: a few bytes must not keep the whole record in memory.
    parts.push(Buffer.from(bytes))
    this.#pending.set(keyOf(record), { record, parts, size: size + bytes.length, end })
    this.#held += bytes.length
    return size + bytes.length
  }

  /** What is held of this stream and these bytes after it; nothing is held afterwards. */
  #take(record: LogRecord, bytes: Uint8Array = new Uint8Array()): Buffer {
    const pending = this.#pending.get(keyOf(record))
    if (!pending) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#pending.delete(keyOf(record))
    this.#held -= pending.size
    return Buffer.concat([...pending.parts, bytes])
  }

  /** A part of a line that ends at `end` in its stream, after it was taken out of what is held. */
  #piece(record: LogRecord, bytes: Buffer, end: number): LogLine {
    const cursor = this.#givenPosition().cursorAt(record.role, record.replica, record.stream, end)
    return { ...lineOf(record, cursor), ...contentOf(bytes), partial: true }
  }

  /** How far all streams have been given out: what is held counts as not yet read. */
  #givenPosition(): LogPosition {
    const position = LogPosition.parse(this.#cursor)
    for (const { record, end, size } of this.#pending.values()) position.advance(record.role, record.replica, record.stream, end - size)
    return position
  }
}

const keyOf = ({ role, replica, stream }: LogRecord): string => `${role}/${replica}/${stream}`

const lineOf = ({ attempt, role, replica, stream, at }: LogRecord, cursor: string | null) => ({
  attempt,
  role,
  replica,
  stream,
  at,
  cursor,
})

const contentOf = (bytes: Buffer): Pick<LogLine, 'text' | 'base64'> =>
  isUtf8(bytes) ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') }

/** Length without a character at the end that has only begun. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length - 1); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0b1100_0000) === 0b1000_0000) continue
    const length = byte >= 0b1111_0000 ? 4 : byte >= 0b1110_0000 ? 3 : byte >= 0b1100_0000 ? 2 : 1
    return length > back ? bytes.length - back : bytes.length
  }
  return bytes.length
}
