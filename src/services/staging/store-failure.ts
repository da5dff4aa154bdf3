import { SchedulerError } from '../../schedulers/scheduler.ts'
import { StoreError, type StoreErrorKind } from '../../stores/object-store.ts'

/** What an attempt makes of a store that failed: tried again when it was only away, else the mount has failed. */
export function storeFailure(error: unknown, where: string): unknown {
  if (!(error instanceof StoreError)) return error
  const message = `${where}: ${WORDS[error.kind]}: ${error.message}`
  if (error.kind === 'unavailable') return new SchedulerError('unavailable', message, { cause: error })
  return new SchedulerError('rejected', message, { cause: error, failure: 'mount_failed' })
}

/** Names of the ways to lose a mount, stable, before the store's own words. */
const WORDS: Readonly<Record<StoreErrorKind, string>> = {
  not_found: 'not_found',
  precondition_failed: 'changed_meanwhile',
  digest_mismatch: 'corrupted',
  conflict: 'path_conflict',
  too_large: 'quota_exceeded',
  full: 'disk_full',
  access_denied: 'access_denied',
  misconfigured: 'misconfigured',
  unavailable: 'timeout_network',
}
