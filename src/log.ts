import { pino, type Logger } from 'pino'

/**
 * Lines of JSON on standard output. Of an error only its class, words, code and stack are told: clients of databases
 * and daemons hang whole connections on theirs, passwords included.
 */
export function createLog(level: string): Logger {
  return pino({ level, base: null, serializers: { err: tell } })
}

interface ToldError {
  readonly type: string
  readonly message: string
  readonly code?: unknown
  readonly stack?: string | undefined
  readonly cause?: ToldError
}

function tell(error: unknown): ToldError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) }
  const { name, message, stack, cause } = error
  return { type: name, message, ...('code' in error && { code: error.code }), stack, ...(cause !== undefined && { cause: tell(cause) }) }
}
