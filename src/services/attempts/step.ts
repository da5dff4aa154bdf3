import type { Claim } from '../../db/statements/claim-attempt.ts'
import type { Scheduler } from '../../schedulers/scheduler.ts'

/** A step of the way of an attempt, under a claim. */
export interface Step {
  readonly claim: Claim
  readonly scheduler: Scheduler
  /** Aborted when the claim is no longer ours. */
  readonly signal: AbortSignal
}
