import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { demultiplexLogs, LogStreamError } from '../../../../src/schedulers/docker/log-demultiplexer.ts'
import { LostNewlines } from '../../../../src/schedulers/docker/lost-newlines.ts'

function frame(type: number, payload: Buffer | string): Buffer {
  const header = Buffer.alloc(8)
  header.writeUInt8(type)
  header.writeUInt32BE(Buffer.byteLength(payload), 4)
  return Buffer.concat([header, Buffer.from(payload)])
}

async function* chunksOf(...chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks
}

async function read(...chunks: readonly Buffer[]): Promise<{ stdout: Buffer; stderr: Buffer; pieces: number }> {
  const parts = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  for await (const { stream, bytes } of demultiplexLogs(chunksOf(...chunks))) parts[stream].push(bytes)
  const pieces = parts.stdout.length + parts.stderr.length
  return { stdout: Buffer.concat(parts.stdout), stderr: Buffer.concat(parts.stderr), pieces }
}

describe('the log demultiplexer', () => {
  test('gives each stream its bytes, however frames are cut into chunks', async () => {
    const frames = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 40 })))
    const cuts = fc.infiniteStream(fc.integer({ min: 1, max: 30 }))
    await fc.assert(fc.asyncProperty(frames, cuts, async (given, sizes) => {
      const all = Buffer.concat(given.map(([type, payload]) => frame(type, Buffer.from(payload))))
      const chunks: Buffer[] = []
      for (let at = 0; at < all.length;) {
        const size = sizes.next().value as number
        chunks.push(all.subarray(at, at + size))
        at += size
      }
      const { stdout, stderr } = await read(...chunks)
      const of = (wanted: number): Buffer => Buffer.concat(given.filter(([type]) => type === wanted).map(([, payload]) => payload))
      expect([stdout, stderr]).toEqual([of(1), of(2)])
    }))
  })

  test('passes thousands of tiny frames in one chunk on in one piece', async () => {
    const all = Buffer.concat(Array.from({ length: 50_000 }, (_, index) => frame(1, String(index % 10))))
    const { stdout, pieces } = await read(all)
    expect([stdout.length, pieces]).toEqual([50_000, 1])
  })

  test('passes a frame on before it is whole, so that its length costs no memory', async () => {
    const header = frame(1, '').fill(0xff, 4)
    const source = demultiplexLogs(chunksOf(Buffer.concat([header, Buffer.from('begin')]), Buffer.from('more')))
    expect((await source.next()).value).toEqual({ stream: 'stdout', bytes: Buffer.from('begin') })
    expect((await source.next()).value).toEqual({ stream: 'stdout', bytes: Buffer.from('more') })
    await expect(source.next()).rejects.toBeInstanceOf(LogStreamError)
  })

  test('asks for a chunk only when the one before was taken', async () => {
    let asked = 0
    async function* counting(): AsyncGenerator<Buffer> {
      for (; ; asked++) yield frame(1, 'x')
    }
    const source = demultiplexLogs(counting())
    await source.next()
    expect(asked).toBe(0)
    await source.next()
    expect(asked).toBe(1)
    await source.return(undefined)
  })

  test('keeps the order of both streams within a chunk', async () => {
    const order: string[] = []
    const all = Buffer.concat([frame(1, 'a'), frame(2, 'b'), frame(2, 'c'), frame(1, 'd')])
    for await (const { stream, bytes } of demultiplexLogs(chunksOf(all))) order.push(`${stream} ${bytes.toString()}`)
    expect(order).toEqual(['stdout a', 'stderr bc', 'stdout d'])
  })

  test('takes what Docker calls stdin as stdout, and ends well after an empty frame', async () => {
    expect((await read(frame(0, 'in'), frame(1, ''))).stdout.toString()).toBe('in')
  })

  test.each([
    ['an error of the daemon', [frame(1, 'x'), frame(3, 'disk on fire')], /disk on fire/],
    ['a stream that nobody knows', [frame(7, 'x')], /not a frame/],
    ['output without frames', [Buffer.from('plain text of a terminal')], /not a frame/],
    ['an end inside of a header', [frame(1, 'x'), frame(1, 'y').subarray(0, 5)], /inside of a frame/],
    ['an end inside of a payload', [frame(1, 'long').subarray(0, 10)], /inside of a frame/],
  ])('reports %s', async (_, chunks, words) => {
    await expect(read(...chunks)).rejects.toThrow(words)
  })

  test('puts the newline back that the driver `local` takes from a line of more than 16 KiB', async () => {
    const piece = 'x'.repeat(16_384)
    const frames = [frame(1, piece), frame(1, 'y'), frame(2, 'err\n'), frame(1, 'z\n'), frame(1, piece), frame(1, piece), frame(1, 'end')]
    const parts: Buffer[] = []
    const source = demultiplexLogs(chunksOf(...frames), new LostNewlines())
    for await (const { stream, bytes } of source) if (stream === 'stdout') parts.push(bytes)
    expect(Buffer.concat(parts).toString()).toBe(`${piece}y\nz\n${piece}${piece}end`)
  })
})
