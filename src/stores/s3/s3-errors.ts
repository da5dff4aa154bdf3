import { StoreError, type StoreErrorKind } from '../object-store.ts'
import { kindOfStatus } from '../status-kind.ts'

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
  const kind = BY_NAME[name] ?? (status === undefined ? 'unavailable' : kindOfStatus(status))
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
