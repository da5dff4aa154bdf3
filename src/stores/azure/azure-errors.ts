import { RestError } from '@azure/storage-blob'
import { StoreError, type StoreErrorKind } from '../object-store.ts'
import { kindOfStatus } from '../status-kind.ts'

/** What a call to Azure failed of, told by its code, else by the status (Blob service error codes). */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error
  if (!(error instanceof RestError)) {
    const { name, message } = error as Error
    return new StoreError('unavailable', `${name}: ${message}`, { cause: error })
  }
  const code = error.code ?? ''
  const kind = BY_CODE[code] ?? (error.statusCode === undefined ? 'unavailable' : kindOfStatus(error.statusCode))
  const [words] = error.message.split('\n')
  return new StoreError(kind, `${code || error.name}: ${words}`, { cause: error })
}

const BY_CODE: Readonly<Record<string, StoreErrorKind>> = {
  BlobNotFound: 'not_found',
  ContainerNotFound: 'misconfigured',
  ContainerBeingDeleted: 'misconfigured',
  ResourceNotFound: 'misconfigured',
  AccountIsDisabled: 'misconfigured',
  BlobAlreadyExists: 'precondition_failed',
  ConditionNotMet: 'precondition_failed',
  UnmodifiedSinceConditionNotMet: 'precondition_failed',
  PublicAccessNotPermitted: 'access_denied',
  NoAuthenticationInformation: 'access_denied',
  PendingCopyOperation: 'unavailable',
  OperationTimedOut: 'unavailable',
}
