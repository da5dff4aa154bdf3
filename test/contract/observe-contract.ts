import { describe, expect, test } from 'vitest'
import type { ObservationBatch, ReplicaObservation } from '../../src/domain/attempt.ts'
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
      const spec = jobs().shell('sleep 0.5')
      const stop = new AbortController()
      const seen: { readonly phase: string; readonly lateMs: number }[] = []
      const submitted = jobs().submit(spec)
      for await (const batch of tested().scheduler.observe(stop.signal)) {
        const replica = replicaOf(batch, spec.attemptId)
        const time = Date.parse(replica?.endedAt ?? replica?.startedAt ?? '')
        if (replica && replica.phase !== seen.at(-1)?.phase) seen.push({ phase: replica.phase, lateMs: Date.now() - time })
        if (replica?.phase === 'succeeded') break
      }
      stop.abort()
      await submitted
      const told = seen.filter(({ phase }) => phase !== 'pending')
      expect(told.map(({ phase }) => phase)).toEqual(['running', 'succeeded'])
      for (const { lateMs } of told) expect(lateMs).toBeLessThan(1000)
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

const replicaOf = (batch: ObservationBatch, attemptId: string): ReplicaObservation | undefined =>
  batch.attempts.find((attempt) => attempt.attemptId === attemptId)?.replicas[0]
