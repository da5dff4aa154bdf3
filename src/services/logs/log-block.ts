import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { LogStream } from '../../domain/attempt.ts'

/** A piece of one stream of a replica, as it was stored while it ran. */
export interface LogSegment {
  /** Counts the pieces of a replica, of both streams, in the order in which they were read. */
  readonly seq: number
  readonly stream: LogStream
  /** Position of the first byte in its stream. */
  readonly start: number
  readonly bytes: Buffer
  readonly at: Date
}

/** A line of JSON with `[seq, stream, start, length, at]` of each segment, `at` in ms since 1970, then all bytes. */
interface Header {
  readonly version: 1
  readonly segments: readonly (readonly [seq: number, stream: LogStream, start: number, length: number, at: number])[]
}

const NEWLINE = 0x0a

/** Many segments as one gzip file (RFC 1952). */
export function packBlock(segments: readonly LogSegment[]): Promise<Buffer> {
  const header: Header = {
    version: 1,
    segments: segments.map(({ seq, stream, start, bytes, at }) => [seq, stream, start, bytes.length, at.getTime()]),
  }
  return promisify(gzip)(Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...segments.map(({ bytes }) => bytes)]))
}

/** What `packBlock` was given. @throws Error for anything that it did not make */
export async function unpackBlock(file: Buffer): Promise<LogSegment[]> {
  const whole = await promisify(gunzip)(file)
  const end = whole.indexOf(NEWLINE)
  const { version, segments } = JSON.parse(whole.toString('utf8', 0, end)) as Header
  if (version !== 1) throw new Error(`a block of output has version ${String(version)}, which is not known here`)
  let from = end + 1
  return segments.map(([seq, stream, start, length, at]) => {
    const bytes = whole.subarray(from, (from += length))
    return { seq, stream, start, bytes, at: new Date(at) }
  })
}
