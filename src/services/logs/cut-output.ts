import type { LogChunk } from '../../domain/attempt.ts'

const MIB = 1024 * 1024

/** What stands where an output was cut. */
export const cutMark = (maxBytes: number): Buffer =>
  Buffer.from(`\n[berth: this output is longer than ${Math.round(maxBytes / MIB)} MiB and was cut here]\n`)

/**
 * A chunk as it is to be stored: whole, up to the limit and with a mark behind it, or null. Where it lies decides alone, so
 * that whoever reads the output again comes to the same.
 *
 * @param maxBytes of one stream of a replica, the mark not counted; null for no limit
 */
export function cutOutput(chunk: LogChunk, maxBytes: number | null): LogChunk | null {
  const { offset, bytes } = chunk
  if (maxBytes === null || offset + bytes.length <= maxBytes) return chunk
  if (offset > maxBytes) return null
  return { ...chunk, bytes: Buffer.concat([bytes.subarray(0, maxBytes - offset), cutMark(maxBytes)]) }
}
