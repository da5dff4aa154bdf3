import { describe, expect, test } from 'vitest'
import type { Outcome } from '../../../src/domain/decide-outcome.ts'
import { FAILURE_REASON_NAMES, FAILURE_REASONS, type FailureReason } from '../../../src/domain/failure-reason.ts'
import { decideRetry, FREE_RETRIES, type RetryFacts } from '../../../src/domain/retry-decision.ts'

const failed = (reason: FailureReason): Outcome => ({ result: 'failed', reason, detail: 'x' })
const times = (count: number, reason: FailureReason): FailureReason[] => Array.from({ length: count }, () => reason)
const decide = (fields: Partial<RetryFacts> = {}) =>
  decideRetry({
    outcome: failed('executor_error'),
    earlier: [],
    retries: { max: 2, backoffSeconds: 10 },
    cancelRequested: false,
    random: 0,
    ...fields,
  })
const NO = { retry: false }

describe('a failed attempt', () => {
  test('is tried again as often as asked for', () => {
    const retried = [0, 1, 2, 3].map((count) => decide({ earlier: times(count, 'executor_error') }).retry)
    expect(retried).toEqual([true, true, false, false])
    expect(decide({ retries: { max: 0, backoffSeconds: 10 } })).toEqual(NO)
  })

  test('is not tried again after a success, a cancel, or when a cancel was asked for', () => {
    expect(decide({ outcome: { result: 'succeeded', reason: null, detail: null } })).toEqual(NO)
    expect(decide({ outcome: { result: 'canceled', reason: null, detail: 'x' } })).toEqual(NO)
    expect(decide({ cancelRequested: true })).toEqual(NO)
  })

  test('is tried again for exactly the reasons that say so', () => {
    const retried = FAILURE_REASON_NAMES.filter((reason) => decide({ outcome: failed(reason) }).retry)
    expect(retried).toEqual(FAILURE_REASON_NAMES.filter((reason) => FAILURE_REASONS[reason].retried))
    expect(retried).not.toContain('timed_out')
    expect(retried).not.toContain('rejected')
  })

  test('that uses no attempt is tried again even without retries, but not for ever', () => {
    const retries = { max: 0, backoffSeconds: 0 }
    const retried = [0, 1, 2, 3, 4].map((count) => decide({ outcome: failed('lost'), earlier: times(count, 'preempted'), retries }).retry)
    expect(retried).toEqual([true, true, true, false, false])
    expect(FREE_RETRIES).toBe(3)
  })

  test('that uses no attempt takes none from the others, nor they from it', () => {
    expect(decide({ earlier: [...times(3, 'lost'), 'executor_error'] }).retry).toBe(true)
    expect(decide({ earlier: [...times(3, 'lost'), 'executor_error', 'executor_error'] }).retry).toBe(false)
    expect(decide({ outcome: failed('lost'), earlier: times(3, 'executor_error') }).retry).toBe(true)
  })
})

describe('the wait before the next attempt', () => {
  const waits = (random: number, backoffSeconds = 10) =>
    [0, 1, 2, 6, 60].map((count) => {
      const decision = decide({ earlier: times(count, 'executor_error'), retries: { max: 100, backoffSeconds }, random })
      return decision.retry && decision.delaySeconds
    })

  test('doubles up to ten minutes', () => {
    expect(waits(0)).toEqual([10, 20, 40, 600, 600])
  })

  test('is shortened by chance by up to a fifth, also when it is longest', () => {
    expect(waits(0.5)).toEqual([9, 18, 36, 540, 540])
    expect(waits(0.999_999)[4]).toBeCloseTo(480)
  })

  test('is none where none is asked for', () => {
    expect(waits(0.5, 0)).toEqual([0, 0, 0, 0, 0])
  })
})
