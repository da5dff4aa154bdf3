import type { ProblemCode } from '../domain/problem.ts'
import { Problem } from '../domain/problem.ts'
import { isDatabaseAway } from '../services/database-away.ts'

/** What Fastify refuses by itself, by its code. Everything of ours is thrown as a `Problem` already. */
const FASTIFY_REFUSALS: Readonly<Record<string, readonly [ProblemCode, string]>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: ['malformed_request', 'The body is not JSON.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['malformed_request', 'The body is empty; a JSON object is needed.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed_request', 'The body is not as long as its Content-Length says.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body may have 1 MiB (1048576 bytes) at most.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as `Content-Type: application/json`, in UTF-8.'],
  FST_ERR_CTP_EMPTY_TYPE: ['unsupported_media_type', 'Send the body as `Content-Type: application/json`, in UTF-8.'],
  FST_ERR_BAD_URL: ['malformed_request', 'The address has a percent escape that stands for nothing.'],
  FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'No name or id is that long.'],
  FST_ERR_NOT_FOUND: ['not_found', 'Nothing lives at this address; /docs lists what does.'],
}

/** The problem that any thrown value is to a client. What is not the client's to know becomes `internal_error`, without a word of it. */
export function problemFromError(error: unknown): Problem {
  if (error instanceof Problem) return error
  const refusal = FASTIFY_REFUSALS[codeOf(error)]
  if (refusal)
    return new Problem(refusal[0], refusal[1], { cause: error, ...(refusal[0] === 'unavailable' ? { retryAfterSeconds: 1 } : {}) })
  const status = statusOf(error)
  if (status === 404) return new Problem('not_found', 'Nothing lives at this address; /docs lists what does.', { cause: error })
  if (status >= 400 && status < 500) return new Problem('malformed_request', 'The request broke off or cannot be read.', { cause: error })
  if (isDatabaseAway(error))
    return new Problem('unavailable', 'The database does not answer now. Try again.', { cause: error, retryAfterSeconds: 2 })
  return new Problem('internal_error', 'The fault is logged under the request id.', { cause: error })
}

const codeOf = (error: unknown): string => {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

const statusOf = (error: unknown): number => {
  const status = (error as { statusCode?: unknown } | null)?.statusCode
  return typeof status === 'number' ? status : 0
}
