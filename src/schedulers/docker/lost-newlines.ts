import type { LogStream } from '../../domain/attempt.ts'

/**
 * Finds the newlines that Docker's log driver `local` loses. It keeps a line without its newline and adds that again when it is
 * read, but not to a line of more than 16 KiB, which it keeps in pieces. All pieces but the last are of that size, so a
 * shorter frame without a newline was the end of such a line, if anything comes after it.
 *
 * What cannot be known stays lost: the newline of a last line that is so long, and of one of exactly n × 16 KiB.
 */
export class LostNewlines {
  readonly #last: Record<LogStream, { length: number; byte: number }> = {
    stdout: { length: 0, byte: NEWLINE },
    stderr: { length: 0, byte: NEWLINE },
  }

  /** To be asked at the beginning of each frame: whether a newline was lost before it. */
  isBefore(stream: LogStream): boolean {
    const { length, byte } = this.#last[stream]
    this.#last[stream] = { length: 0, byte: NEWLINE }
    return byte !== NEWLINE && length < PIECE_BYTES
  }

  /** To be told each part of the payload of the frame that was begun. */
  pass(stream: LogStream, payload: Buffer): void {
    const last = this.#last[stream]
    last.length += payload.length
    last.byte = payload.at(-1) ?? last.byte
  }
}

const NEWLINE = 0x0a
const PIECE_BYTES = 16 * 1024
