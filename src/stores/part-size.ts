const MIB = 1024 * 1024
/** S3 takes 10,000 parts (user guide, limits), Azure 50,000 blocks; some are kept in reserve for a size that was guessed. */
const MOST_PARTS = 9_000
const SMALLEST = 8 * MIB
/** Of a stream of unknown length, which so may have up to 140 GiB. */
const UNKNOWN = 16 * MIB

/** Of how many parts of an upload a writer holds in memory. */
export const PARTS_AT_ONCE = 2

/** Bytes of one part of an upload, for as little memory as its size allows. @param size bytes, where they are known */
export function partBytes(size: number | undefined): number {
  if (size === undefined) return UNKNOWN
  return Math.max(SMALLEST, Math.ceil(size / MOST_PARTS / MIB) * MIB)
}
