import { Problem } from '../domain/problem.ts'

/** Bytes `start` to `end`, both included. */
export interface WantedRange {
  readonly start: number
  readonly end: number
}

/**
 * Reads `Range` (RFC 9110, 14): the one range that is asked for, or null for the whole. What is not understood, or asks
 * for several, is the whole too.
 *
 * @throws Problem `range_not_satisfiable`
 */
export function readRange(header: string | undefined, size: number): WantedRange | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? []
  if (first === '') return last === '' ? null : satisfiable({ start: Math.max(0, size - Number(last)), end: size - 1 }, size)
  if (last !== '' && Number(last) < Number(first)) return null
  return satisfiable({ start: Number(first), end: last === '' ? size - 1 : Math.min(Number(last), size - 1) }, size)
}

function satisfiable(range: WantedRange, size: number): WantedRange {
  if (range.start < size) return range
  throw new Problem('range_not_satisfiable', `The object has ${size} bytes.`)
}
