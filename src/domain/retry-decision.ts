import type { Outcome } from './decide-outcome.ts'
import { FAILURE_REASONS, type FailureReason } from './failure-reason.ts'
import type { RetryPolicy } from './job-spec.ts'

export interface RetryFacts {
  /** How the attempt ended. */
  readonly outcome: Outcome
  /** Reasons of all attempts before it, which failed too. */
  readonly earlier: readonly FailureReason[]
  readonly retries: RetryPolicy
  readonly cancelRequested: boolean
  /** At least 0, less than 1. */
  readonly random: number
}

export type RetryDecision = { readonly retry: true; readonly delaySeconds: number } | { readonly retry: false }

/** Failures that use no attempt are tried again this often, whatever the policy says: a place that loses every attempt is no place. */
export const FREE_RETRIES = 3

/** Longest wait before an attempt. */
const MOST_SECONDS = 600

/** Part of the wait that chance may take away, so that jobs that failed together do not come back together. */
const JITTER = 0.2

/** Whether and when a failed attempt is tried again. */
export function decideRetry({ outcome, earlier, retries, cancelRequested, random }: RetryFacts): RetryDecision {
  const { result, reason } = outcome
  if (cancelRequested || result !== 'failed' || reason === null || !FAILURE_REASONS[reason].retried) return { retry: false }
  const { usesAttempt } = FAILURE_REASONS[reason]
  const before = earlier.filter((other) => FAILURE_REASONS[other].usesAttempt === usesAttempt).length
  if (before >= (usesAttempt ? retries.max : FREE_RETRIES)) return { retry: false }
  const wait = Math.min(MOST_SECONDS, retries.backoffSeconds * 2 ** earlier.length)
  return { retry: true, delaySeconds: wait * (1 - JITTER * random) }
}
