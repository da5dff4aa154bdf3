import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BerthProcess } from '../support/berth-process.ts'
import { firstDifference } from '../support/first-difference.ts'
import { memoryGrowth } from '../support/memory-growth.ts'
import { Installation } from '../support/installation.ts'
import { PLACES, requirePlaces, shellJob } from '../support/places.ts'

const need = requirePlaces()
const MIB = 1024 * 1024
const MOST_GROWTH = 150 * MIB

describe.skipIf(need.missing).each(PLACES)('the output of a job on %s', (place) => {
  let berth: Installation
  let running: BerthProcess

  beforeAll(async () => {
    berth = await Installation.create({ dockerHost: need.host, env: { BERTH_MAX_LOG_MIB: '100' } })
    running = await berth.start()
  })
  afterAll(() => berth.dispose())

  const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
  /** Live and afterwards; the two must be the same. */
  const outputOf = async (script: string): Promise<Buffer> => {
    const { id } = await berth.client.submit(shellJob(berth, place, script))
    const live = await berth.client.log(id, 'follow=true')
    expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded' })
    expect(hashOf(await berth.client.log(id))).toBe(hashOf(live))
    return live
  }

  it('of 50 MB in one line is whole to the byte, live and later, and costs little memory (case 41)', { timeout: 90_000 }, async () => {
    await outputOf('head -c 1000000 /dev/zero | tr "\\0" y')
    let bytes: Buffer = Buffer.alloc(0)
    const from = performance.now()
    const growth = await memoryGrowth(running, async () => {
      bytes = await outputOf('head -c 50000000 /dev/zero | tr "\\0" x')
    })
    console.log(
      `${place}: 50 MB in one line, twice, in ${Math.round(performance.now() - from)} ms; memory grew by ${Math.round(growth / MIB)} MiB`,
    )
    expect(bytes.length).toBe(50_000_000)
    expect(hashOf(bytes)).toBe(hashOf(Buffer.alloc(50_000_000, 'x')))
    expect(growth).toBeLessThan(MOST_GROWTH)
  })

  it('needs no newline at its end', async () => {
    expect((await outputOf('printf "first\\nlast"')).toString()).toBe('first\nlast')
  })

  it('keeps characters whole that were written in two parts', async () => {
    // Half of é, and a smile of four bytes in three parts.
    const script = 'printf "caf\\303"; sleep 0.3; printf "\\251 \\360\\237"; sleep 0.3; printf "\\230"; sleep 0.3; printf "\\200\\n"'
    expect((await outputOf(script)).toString()).toBe('café 😀\n')
    const { id } = await berth.client.submit(shellJob(berth, place, script))
    const response = await berth.client.open(`/v1/jobs/${id}/logs?follow=true`, { headers: { accept: 'application/x-ndjson' } })
    const lines = (await response.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { text?: string })
    expect(lines.map((line) => JSON.stringify(line)).join('')).toContain('café 😀')
  })

  it('keeps its newlines after lines of any length', async () => {
    const lengths = [0, 1, 16_383, 16_385, 20_000, 40_000, 100_000]
    const script = lengths.map((length) => `head -c ${length} /dev/zero | tr "\\0" x; echo`).join('; ')
    expect(
      firstDifference(
        await outputOf(`${script}; echo end`),
        Buffer.from(`${lengths.map((length) => 'x'.repeat(length)).join('\n')}\nend\n`),
      ),
    ).toBeNull()
  })

  it('may be any bytes', async () => {
    const all = Buffer.from(Array.from({ length: 65_536 }, (_, at) => (at * 7 + (at >> 8)) % 256))
    const escaped = [...all.subarray(0, 256)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')
    const bytes = await outputOf(`for i in $(seq 100); do printf '${escaped}'; done`)
    expect(hashOf(bytes)).toBe(hashOf(Buffer.concat(Array.from({ length: 100 }, () => all.subarray(0, 256)))))
  })

  it('is in both streams, each in order and whole', async () => {
    const { id } = await berth.client.submit(shellJob(berth, place, 'for i in $(seq 2000); do echo out $i; echo err $i >&2; done'))
    await berth.client.ended(id)
    const expected = (word: string): string => Array.from({ length: 2_000 }, (_, at) => `${word} ${at + 1}\n`).join('')
    expect((await berth.client.log(id, 'stream=stdout')).toString()).toBe(expected('out'))
    expect((await berth.client.log(id, 'stream=stderr')).toString()).toBe(expected('err'))
  })

  it('of more than the operator keeps is cut, and says so, while the job goes on', { timeout: 90_000 }, async () => {
    const most = 100 * MIB
    const live = await outputOf('head -c 105000000 /dev/zero | tr "\\0" x; echo end >&2')
    const stdout = live.toString('latin1').replace('end\n', '')
    expect(stdout.slice(most)).toBe('\n[berth: this output is longer than 100 MiB and was cut here]\n')
    expect(/^x+$/.test(stdout.slice(0, most))).toBe(true)
    expect(live.includes('end\n')).toBe(true)
  })

  it('of a killed Berth is whole after another has taken the job over', { timeout: 60_000 }, async () => {
    const { id } = await berth.client.submit(
      shellJob(berth, place, 'for i in $(seq 60); do head -c 20000 /dev/zero | tr "\\0" z; echo $i; sleep 0.05; done; echo end'),
    )
    await berth.client.until(id, ({ state }) => state === 'running')
    await running.kill()
    running = await berth.start()
    const live = await berth.client.log(id, 'follow=true')
    expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded' })
    const expected = Buffer.from(`${Array.from({ length: 60 }, (_, at) => `${'z'.repeat(20_000)}${at + 1}\n`).join('')}end\n`)
    expect(firstDifference(live, expected)).toBeNull()
    expect(firstDifference(await berth.client.log(id), expected)).toBeNull()
    await berth.untilClean()
  })
})
