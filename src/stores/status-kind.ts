import type { StoreErrorKind } from './object-store.ts'

/** What an HTTP status of a bucket's server means where its code says nothing. */
export function kindOfStatus(status: number): StoreErrorKind {
  if (status === 404) return 'not_found'
  if (status === 412) return 'precondition_failed'
  if (status === 401 || status === 403) return 'access_denied'
  if (status === 507) return 'full'
  return status >= 500 || status === 429 || status === 408 ? 'unavailable' : 'misconfigured'
}
