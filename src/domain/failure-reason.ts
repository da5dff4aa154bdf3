/** Why an attempt failed. `usesAttempt`: counts against `retries.max`; `retried`: may be tried again at all. */
export const FAILURE_REASONS = {
  executor_error: { usesAttempt: true, retried: true, meaning: 'a replica ended with a non-zero exit code' },
  out_of_memory: { usesAttempt: true, retried: true, meaning: 'a replica was ended because it went over its memory limit' },
  timed_out: { usesAttempt: true, retried: false, meaning: 'the run took longer than timeoutSeconds' },
  queue_timed_out: { usesAttempt: true, retried: false, meaning: 'no replica ran within queueTimeoutSeconds' },
  image_pull_failed: { usesAttempt: true, retried: true, meaning: 'an image could not be found or fetched' },
  mount_failed: { usesAttempt: true, retried: true, meaning: 'a mount could not be made' },
  mount_lost: { usesAttempt: false, retried: true, meaning: 'a mount was lost while the job ran, and perhaps what it wrote' },
  preempted: { usesAttempt: false, retried: true, meaning: 'the scheduler took the place away' },
  lost: { usesAttempt: false, retried: true, meaning: 'the native object is gone, or was cut off, and left no outcome' },
  rejected: { usesAttempt: true, retried: false, meaning: 'the scheduler refused the request' },
  system_error: { usesAttempt: true, retried: true, meaning: 'a fault of Berth or of the machine below it' },
} as const satisfies Record<string, { usesAttempt: boolean; retried: boolean; meaning: string }>

export type FailureReason = keyof typeof FAILURE_REASONS
export const FAILURE_REASON_NAMES = Object.keys(FAILURE_REASONS) as FailureReason[]
