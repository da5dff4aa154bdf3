/** SQLSTATE classes and codes that say "not now", and socket errors on the way there. */
const CODES = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EAI_AGAIN', 'ENOTFOUND'],
  ...['57P01', '57P02', '57P03', '57014', '53300', '55P03', '40001', '40P01', '25006'],
])

/** node-postgres gives these no code at all, so that nothing but their exact text is left to tell them by. */
const CODELESS = new Set([
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
])

/** Whether an error means that the database could not be asked, or would not answer now, rather than that we asked wrongly. */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return CODES.has(code) || code.startsWith('08')
  return CODELESS.has(error.message)
}
