import { StoreError, type StoreErrorKind } from '../object-store.ts'

interface ServiceError {
  readonly name: string
  readonly message: string
  readonly $metadata?: { readonly httpStatusCode?: number }
}

/** What a call to an S3 server failed of, told by its code, else by the status. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  const { name, message, $metadata } = error as ServiceError
  const status = $metadata?.httpStatusCode
  const kind = BY_NAME[name] ?? (status === undefined ? 'unavailable' : kindOf(status))
  return new StoreError(kind, `${name}: ${message}`, { cause: error })
}

const BY_NAME: Readonly<Record<string, StoreErrorKind>> = {
  NoSuchKey: 'not_found',
  NotFound: 'not_found',
  NoSuchBucket: 'misconfigured',
  PermanentRedirect: 'misconfigured',
  AuthorizationHeaderMalformed: 'misconfigured',
  IllegalLocationConstraintException: 'misconfigured',
  PreconditionFailed: 'precondition_failed',
  ConditionalRequestConflict: 'precondition_failed',
  AccessDenied: 'access_denied',
  ExpiredToken: 'access_denied',
  InvalidToken: 'access_denied',
  TokenRefreshRequired: 'access_denied',
  InvalidAccessKeyId: 'access_denied',
  SignatureDoesNotMatch: 'access_denied',
  XAdminUserNotFound: 'access_denied',
  CredentialsProviderError: 'access_denied',
  ObjectParentIsFile: 'conflict',
  EntityTooLarge: 'too_large',
  BadDigest: 'digest_mismatch',
}

function kindOf(status: number): StoreErrorKind {
  if (status === 404) return 'not_found'
  if (status === 412) return 'precondition_failed'
  if (status === 401 || status === 403) return 'access_denied'
  if (status === 507) return 'full'
  return status >= 500 || status === 429 || status === 408 ? 'unavailable' : 'misconfigured'
}
