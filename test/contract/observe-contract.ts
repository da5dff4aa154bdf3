import { describe, expect, test } from 'vitest'
import type { ObservationBatch } from '../../src/domain/attempt.ts'
import { handleOf } from './bench-of-jobs.ts'
import type { ContractContext } from './contract-context.ts'

export function observeContract({ tested, jobs }: ContractContext): void {
  describe('observe', () => {
    test('starts with everything that there is, ended or not', async () => {
      const [over, going] = [jobs().shell('true'), jobs().shell('sleep 20')]
      await jobs().complete(over)
      await jobs().submit(going)
      expect(await jobs().everything()).toEqual(expect.arrayContaining([over.attemptId, going.attemptId]))
      await tested().scheduler.cancel(handleOf(going), new AbortController().signal)
    })

    test('tells of a start and of an end soon after they happened', async () => {
      const spec = jobs().shell('sleep 0.5; date +%s%N | cut -c1-13')
      const stop = new AbortController()
      const seen: [phase: string, at: number][] = []
      const submitted = jobs().submit(spec)
      for await (const batch of tested().scheduler.observe(stop.signal)) {
        const phase = phaseOf(batch, spec.attemptId)
        if (phase !== undefined && phase !== seen.at(-1)?.[0]) seen.push([phase, Date.now()])
        if (phase === 'succeeded') break
      }
      stop.abort()
      await submitted
      expect(seen.map(([phase]) => phase).filter((phase) => phase !== 'pending')).toEqual(['running', 'succeeded'])
      const ended = Number((await jobs().output(spec)).toString())
      expect((seen.at(-1)?.[1] ?? Infinity) - ended).toBeLessThan(1000)
    })

    test('gives the same to two observers, and ends with their signals', async () => {
      const spec = jobs().shell('sleep 0.3')
      const both = [jobs().ended(spec), jobs().ended(spec)]
      await jobs().submit(spec)
      const [one, other] = await Promise.all(both)
      expect(one).toEqual(other)
    })

    test('leaves out what was removed from the next complete batch', async () => {
      const spec = jobs().shell('true')
      await jobs().complete(spec)
      expect(await jobs().everything()).toContain(spec.attemptId)
      await tested().scheduler.remove(handleOf(spec), new AbortController().signal)
      expect(await jobs().everything()).not.toContain(spec.attemptId)
    })

    test('is healthy, and says where', async () => {
      expect(await tested().scheduler.health(new AbortController().signal)).toMatch(/\S/)
    })
  })
}

const phaseOf = (batch: ObservationBatch, attemptId: string): string | undefined =>
  batch.attempts.find((attempt) => attempt.attemptId === attemptId)?.replicas[0]?.phase
