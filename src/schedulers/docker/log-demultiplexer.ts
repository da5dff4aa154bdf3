import type { LogStream } from '../../domain/attempt.ts'
import type { LostNewlines } from './lost-newlines.ts'

/** Consecutive bytes of one stream, as long as they came together. */
export interface DemultiplexedBytes {
  readonly stream: LogStream
  readonly bytes: Buffer
}

/** The daemon's stream ended inside of a frame, carried an error of the daemon, or is none of its streams. */
export class LogStreamError extends Error {
  override readonly name = 'LogStreamError'
}

/**
 * Takes Docker's multiplexed output apart: frames of `[type, 0, 0, 0, length as uint32]` and a payload. Nothing is held
 * back but an unfinished header, whatever the lengths of frames; a chunk is asked for when the one before was taken.
 *
 * @param lost what a log driver has lost, to be put back
 * @throws LogStreamError
 */
export async function* demultiplexLogs(source: AsyncIterable<Buffer>, lost?: LostNewlines): AsyncGenerator<DemultiplexedBytes> {
  let header: Buffer = Buffer.alloc(0)
  let frame: Frame | null = null
  for await (const chunk of source) {
    const runs = new Runs()
    let rest = header.length === 0 ? chunk : Buffer.concat([header, chunk])
    header = Buffer.alloc(0)
    while (rest.length > 0) {
      if (frame === null) {
        if (rest.length < HEADER_BYTES) break
        frame = readHeader(rest)
        rest = rest.subarray(HEADER_BYTES)
        if (frame.stream !== null && lost?.isBefore(frame.stream)) runs.add(frame.stream, NEWLINE)
      }
      const payload: Buffer = rest.subarray(0, frame.left)
      rest = rest.subarray(payload.length)
      if (frame.stream === null) throw new LogStreamError(`the daemon says: ${payload.toString()}`)
      runs.add(frame.stream, payload)
      lost?.pass(frame.stream, payload)
      frame = remainderOf(frame, payload.length)
    }
    header = rest
    yield* runs.take()
  }
  if ((frame !== null && frame.left > 0) || header.length > 0) throw new LogStreamError('the stream ended inside of a frame')
}

/** What is still to come of a frame after this many bytes of it. */
const remainderOf = ({ stream, left }: Frame, bytes: number): Frame | null => (bytes < left ? { stream, left: left - bytes } : null)

const HEADER_BYTES = 8
const NEWLINE = Buffer.from('\n')

/** `stream` is null for a frame in which the daemon speaks itself. */
interface Frame {
  readonly stream: LogStream | null
  readonly left: number
}

/** Type 0 is stdin, which Docker writes on stdout; 3 is an error of the daemon. */
const STREAMS: Readonly<Record<number, LogStream | null>> = { 0: 'stdout', 1: 'stdout', 2: 'stderr', 3: null }

function readHeader(bytes: Buffer): Frame {
  const stream = STREAMS[bytes.readUInt8(0)]
  if (stream === undefined || bytes.readUIntBE(1, 3) !== 0) {
    throw new LogStreamError(`not a frame of Docker's log stream: ${bytes.subarray(0, HEADER_BYTES).toString('hex')}`)
  }
  return { stream, left: bytes.readUInt32BE(4) }
}

/** Joins neighbours of one stream: thousands of short lines in a chunk must not become thousands of chunks. */
class Runs {
  readonly #runs: { readonly stream: LogStream; readonly parts: Buffer[] }[] = []

  add(stream: LogStream, payload: Buffer): void {
    if (payload.length === 0) return
    const last = this.#runs.at(-1)
    if (last?.stream === stream) last.parts.push(payload)
    else this.#runs.push({ stream, parts: [payload] })
  }

  *take(): Generator<DemultiplexedBytes> {
    for (const { stream, parts } of this.#runs) yield { stream, bytes: parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts) }
  }
}
