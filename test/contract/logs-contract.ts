import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { handleOf } from './bench-of-jobs.ts'
import type { ContractContext } from './contract-context.ts'

const BINARY = String.raw`printf "\000\001\377\376\r\n\n\303"; printf "\251 no newline at the end"`
const binary = Buffer.from('0001fffe0d0a0ac3a9', 'hex').toString('latin1') + ' no newline at the end'

export function logsContract({ tested, jobs }: ContractContext): void {
  describe('logs', () => {
    test('are the bytes that were written, binary and without a newline at the end', async () => {
      const spec = jobs().shell(BINARY)
      await jobs().complete(spec)
      expect((await jobs().output(spec)).toString('latin1')).toBe(binary)
      expect((await jobs().output(spec, { follow: false })).toString('latin1')).toBe(binary)
    })

    test('keep stdout and stderr apart, each with its own offsets', async () => {
      const spec = jobs().shell('echo out1; echo err1 >&2; echo out2; echo err2 >&2')
      await jobs().complete(spec)
      expect((await jobs().output(spec)).toString()).toBe('out1\nout2\n')
      expect((await jobs().output(spec, {}, 'stderr')).toString()).toBe('err1\nerr2\n')
    })

    test('go on from any byte of each stream', async () => {
      const spec = jobs().shell('printf abcdef; printf uvwxyz >&2')
      await jobs().complete(spec)
      const from = { stdout: 2, stderr: 6 }
      expect((await jobs().output(spec, { from })).toString()).toBe('cdef')
      expect((await jobs().output(spec, { from }, 'stderr')).toString()).toBe('')
      expect((await jobs().output(spec, { from: { stdout: 5, stderr: 0 } })).toString()).toBe('f')
    })

    following({ tested, jobs })
    large({ tested, jobs })
  })
}

function following({ tested, jobs }: ContractContext): void {
  test('are given while the job runs, and end with it', async () => {
    const spec = jobs().shell('echo first; sleep 1; echo second')
    await jobs().submit(spec)
    const seen: [text: string, at: number][] = []
    for await (const { bytes } of jobs().logs(spec)) seen.push([Buffer.from(bytes).toString(), Date.now()])
    expect(seen.map(([text]) => text).join('')).toBe('first\nsecond\n')
    expect((seen.at(-1)?.[1] ?? 0) - (seen[0]?.[1] ?? 0)).toBeGreaterThan(500)
    expect((await jobs().ended(spec))[0]?.phase).toBe('succeeded')
  })

  test('that are not followed, end at what is there', async () => {
    const spec = jobs().shell('echo first; sleep 30')
    await jobs().submit(spec)
    await expect.poll(async () => (await jobs().output(spec, { follow: false })).toString()).toBe('first\n')
    await tested().scheduler.cancel(handleOf(spec), new AbortController().signal)
  })

  test('stop when the reader leaves or its signal is aborted', async () => {
    const spec = jobs().shell('echo first; sleep 30')
    await jobs().submit(spec)
    for await (const { bytes } of jobs().logs(spec)) {
      expect(Buffer.from(bytes).toString()).toBe('first\n')
      break
    }
    const stop = new AbortController()
    const reading = (async () => {
      for await (const _ of jobs().logs(spec, {}, stop.signal)) stop.abort()
    })()
    await reading.catch(() => {})
    await tested().scheduler.cancel(handleOf(spec), new AbortController().signal)
  })

  test('of what is not there, are empty', async () => {
    expect(await jobs().output(jobs().shell('true'))).toHaveLength(0)
  })
}

function large({ jobs }: ContractContext): void {
  test('of 20 MB in one line, are whole', async () => {
    const size = 20_000_000
    const spec = jobs().shell(`head -c ${size} /dev/zero | tr '\\000' x`)
    await jobs().submit(spec)
    const hash = createHash('sha256')
    for await (const { bytes } of jobs().logs(spec)) {
      hash.update(bytes)
      expect(bytes.length).toBeLessThanOrEqual(1 << 20)
    }
    expect(hash.digest('hex')).toBe(createHash('sha256').update('x'.repeat(size)).digest('hex'))
  })

  test('of many small lines on both streams, are whole and in order', async () => {
    const spec = jobs().shell('i=0; while [ $i -lt 3000 ]; do echo $i; echo e$i >&2; i=$((i+1)); done')
    await jobs().complete(spec)
    const numbers = Array.from({ length: 3000 }, (_, index) => index)
    expect((await jobs().output(spec)).toString()).toBe(numbers.map((n) => `${n}\n`).join(''))
    expect((await jobs().output(spec, {}, 'stderr')).toString()).toBe(numbers.map((n) => `e${n}\n`).join(''))
  })
}
