import type { FailureReason } from '../../domain/failure-reason.ts'
import { SchedulerError } from '../scheduler.ts'
import { EngineError } from './engine.ts'

/** Whatever was thrown, as the scheduler's error; told apart by status code, never by text. */
export function toSchedulerError(error: unknown, host: string): SchedulerError {
  if (error instanceof SchedulerError) return error
  if (!(error instanceof EngineError)) {
    const { message, code } = error as Partial<NodeJS.ErrnoException>
    return new SchedulerError('unavailable', `Docker at ${host}: ${message ?? String(error)} (${code ?? 'no code'})`, { cause: error })
  }
  const { statusCode, message } = error
  if (statusCode === null) return new SchedulerError('unavailable', silence(error, host), { cause: error })
  if (statusCode === 404) return new SchedulerError('not_found', message, { cause: error })
  if (statusCode === 409) return new SchedulerError('conflict', message, { cause: error, failure: 'system_error' })
  if (statusCode >= 500) return new SchedulerError('unavailable', `Docker at ${host}: ${message}`, { cause: error })
  return new SchedulerError('rejected', message, { cause: error })
}

/** An answer of the daemon that it will not, and how the attempt ends by it. */
export const refusal = (error: EngineError, failure: FailureReason): SchedulerError =>
  new SchedulerError('rejected', error.message, { cause: error, failure })

/** A higher claim has the replicas now. */
export const takenOver = (): SchedulerError =>
  new SchedulerError('conflict', 'another claim has taken the attempt over', { failure: 'system_error' })

/** @throws SchedulerError `unavailable` if the claim is no longer ours: called before each native call. */
export function assertClaimed(signal: AbortSignal): void {
  if (signal.aborted) throw new SchedulerError('unavailable', 'stopped before the next call')
}

const ADVICE: Readonly<Record<string, string>> = {
  ENOENT: 'its socket is not there: start Docker, or check the path of the socket',
  ECONNREFUSED: 'nobody listens: start Docker',
  EACCES: 'no permission for its socket: let this user into the group that owns it',
  ABORTED: 'it gave no answer in time',
}

function silence({ code, message }: EngineError, host: string): string {
  return `Docker at ${host} cannot be reached: ${ADVICE[code ?? ''] ?? `${message}: check that Docker runs`}`
}
