import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LogRecord } from '../../../src/domain/job-view.ts'
import { LogLines, type LogLine } from '../../../src/routes/log-lines.ts'
import { LogPosition } from '../../../src/services/logs/log-position.ts'

interface Piece {
  readonly replica: number
  readonly bytes: Uint8Array
  readonly attempt?: number
}

/** Records as the service gives them, read from a cursor on: what lies before it is left out. */
function recordsOf(pieces: readonly Piece[], cursor?: string): LogRecord[] {
  const from = cursor === undefined ? new LogPosition(1) : LogPosition.parse(cursor)
  let reached = from
  const written = new Map<string, number>()
  return pieces.flatMap(({ replica, bytes, attempt = 1 }) => {
    const start = written.get(`${attempt}/${replica}`) ?? 0
    written.set(`${attempt}/${replica}`, start + bytes.length)
    if (attempt !== reached.attempt) reached = new LogPosition(attempt)
    const skip = attempt < from.attempt ? bytes.length : Math.max(0, reached.offset('main', replica, 'stdout') - start)
    if (skip >= bytes.length) return []
    const before = reached.copy()
    reached.advance('main', replica, 'stdout', start + bytes.length)
    const cursorAt = (count: number): string => before.cursorAt('main', replica, 'stdout', start + skip + count)
    return [
      { attempt, role: 'main', replica, stream: 'stdout' as const, at: '2026-01-31T12:00:00.000Z', bytes: bytes.subarray(skip), cursorAt },
    ]
  })
}

function cut(records: readonly LogRecord[]): LogLine[] {
  const lines = new LogLines()
  return [...records.flatMap((record) => [...lines.add(record)]), ...lines.end()]
}

const bytesOf = ({ text, base64, partial }: LogLine): Buffer =>
  Buffer.concat([text === undefined ? Buffer.from(base64 ?? '', 'base64') : Buffer.from(text), Buffer.from(partial ? '' : '\n')])

const outputOf = (lines: readonly LogLine[], replica: number): Buffer =>
  Buffer.concat(lines.filter((line) => line.replica === replica).map(bytesOf))

const text = (words: string, replica = 0): Piece => ({ replica, bytes: Buffer.from(words) })

describe('LogLines', () => {
  it('joins a line that was torn apart, and gives the rest when output ends', () => {
    const lines = cut(recordsOf([text('one\ntw'), text('o\nthr'), text('ee')]))
    expect(lines.map(({ text: words, partial }) => [words, partial])).toEqual([
      ['one', undefined],
      ['two', undefined],
      ['three', true],
    ])
  })

  it('does not mix the lines of replicas that write at the same time', () => {
    const lines = cut(recordsOf([text('a1', 0), text('b1', 1), text('a2\n', 0), text('b2\n', 1)]))
    expect(lines.map((line) => [line.replica, line.text])).toEqual([
      [0, 'a1a2'],
      [1, 'b1b2'],
    ])
  })

  it('keeps a character whole whose bytes came apart', () => {
    const bytes = Buffer.from('grüße 🚢\n')
    const pieces = [...bytes].map((byte) => ({ replica: 0, bytes: Uint8Array.of(byte) }))
    expect(cut(recordsOf(pieces)).map((line) => line.text)).toEqual(['grüße 🚢'])
  })

  it('gives bytes that are no text as base64', () => {
    const [line] = cut(recordsOf([{ replica: 0, bytes: Uint8Array.of(0xff, 0x00, 0x0a) }]))
    expect(line).toMatchObject({ base64: '/wA=' })
    expect(line).not.toHaveProperty('text')
  })

  it('cuts a line that is longer than 1 MiB between characters, and holds no more than that', () => {
    const bytes = Buffer.from('🚢'.repeat(700_000))
    const pieces = Array.from({ length: Math.ceil(bytes.length / 65_537) }, (_, at) => ({
      replica: 0,
      bytes: bytes.subarray(at * 65_537, (at + 1) * 65_537),
    }))
    const lines = cut(recordsOf(pieces))
    expect(lines.length).toBeGreaterThan(2)
    expect(lines.every((line) => line.text !== undefined && line.partial === true)).toBe(true)
    expect(Math.max(...lines.map((line) => Buffer.byteLength(line.text ?? '')))).toBeLessThan(1024 * 1024 + 65_537)
    expect(outputOf(lines, 0).equals(bytes)).toBe(true)
  })

  it('does not hold the begun lines of many replicas without limit', () => {
    const pieces = Array.from({ length: 40 }, (_, replica) => ({ replica, bytes: Buffer.alloc(512 * 1024, 'x') }))
    const lines = new LogLines()
    const early = recordsOf(pieces).flatMap((record) => [...lines.add(record)])
    expect(early.length).toBeGreaterThanOrEqual(40 - 8)
    expect([...early, ...lines.end()].reduce((size, line) => size + bytesOf(line).length, 0)).toBe(40 * 512 * 1024)
  })

  it('ends what an attempt left without a newline before the next attempt begins', () => {
    const lines = cut(
      recordsOf([
        { replica: 0, attempt: 1, bytes: Buffer.from('first') },
        { replica: 0, attempt: 2, bytes: Buffer.from('second\n') },
      ]),
    )
    expect(lines.map((line) => [line.attempt, line.text, line.partial])).toEqual([
      [1, 'first', true],
      [2, 'second', undefined],
    ])
  })

  it('gives every byte back, whatever is written and wherever it is cut, and goes on exactly after any line', () => {
    const byte = fc.oneof(fc.constantFrom(10, 10, 97, 0xe2, 0x82, 0xac), fc.integer({ min: 0, max: 255 }))
    const bytes = fc.array(byte, { minLength: 1, maxLength: 12 }).map((list) => Uint8Array.from(list))
    const piece = fc.record({ replica: fc.integer({ min: 0, max: 2 }), bytes })
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(), (pieces, pick) => {
        const lines = cut(recordsOf(pieces))
        const written = (replica: number): Buffer =>
          Buffer.concat(pieces.filter((each) => each.replica === replica).map((each) => each.bytes))
        for (const replica of [0, 1, 2]) expect(outputOf(lines, replica)).toEqual(written(replica))
        if (lines.length === 0) return
        const at = pick % lines.length
        const rest = cut(recordsOf(pieces, lines[at]?.cursor ?? undefined))
        const whole = [...lines.slice(0, at + 1), ...rest]
        for (const replica of [0, 1, 2]) expect(outputOf(whole, replica)).toEqual(written(replica))
      }),
      { numRuns: 300 },
    )
  })
})
