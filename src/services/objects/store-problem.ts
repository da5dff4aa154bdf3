import { Problem, type ProblemCode } from '../../domain/problem.ts'
import { StoreError, type StoreErrorKind } from '../../stores/object-store.ts'

/** What a client is told of a store that failed; any other error as it is. */
function storeProblem(error: unknown): unknown {
  if (!(error instanceof StoreError)) return error
  const code = CODES[error.kind]
  return new Problem(code, error.message, { cause: error, ...(code === 'unavailable' && { retryAfterSeconds: 1 }) })
}

const CODES: Readonly<Record<StoreErrorKind, ProblemCode>> = {
  not_found: 'not_found',
  precondition_failed: 'precondition_failed',
  digest_mismatch: 'digest_mismatch',
  conflict: 'path_conflict',
  too_large: 'quota_exceeded',
  full: 'quota_exceeded',
  access_denied: 'store_failed',
  misconfigured: 'store_failed',
  unavailable: 'unavailable',
}

/** Does something with a store, and tells its failures as problems. */
export async function withStoreProblems<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw storeProblem(error)
  }
}
