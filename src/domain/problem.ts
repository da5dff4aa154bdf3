import type { Fault } from './fault.ts'

/** Every answer that is not a success, by code. RFC 9457: `type` is made from the code, `title` and `status` stand here. */
export const PROBLEMS = {
  malformed_request: { status: 400, title: 'The request cannot be read', retryable: false },
  unauthenticated: { status: 401, title: 'An API key is needed', retryable: false },
  access_denied: { status: 403, title: 'That is not allowed', retryable: false },
  producer_required: { status: 403, title: 'Say which component writes', retryable: false },
  not_found: { status: 404, title: 'There is no such thing', retryable: false },
  method_not_allowed: { status: 405, title: 'This address does not take that method', retryable: false },
  operation_unsupported: { status: 405, title: 'This kind of drive cannot do that', retryable: false },
  not_acceptable: { status: 406, title: 'None of the media types asked for can be given', retryable: false },
  wrong_state: { status: 409, title: 'Its state does not allow that', retryable: false },
  drive_in_use: { status: 409, title: 'Live jobs use the drive', retryable: false },
  drive_not_empty: { status: 409, title: 'The drive holds objects', retryable: false },
  secret_in_use: { status: 409, title: 'Drives name the secret', retryable: false },
  prefix_not_empty: { status: 409, title: 'There are objects below it', retryable: false },
  ambiguous_object: { status: 409, title: 'Several producers have that object', retryable: false },
  path_conflict: { status: 409, title: 'An object lies where a directory must be', retryable: false },
  already_exists: { status: 409, title: 'The name is taken', retryable: false },
  idempotency_in_progress: { status: 409, title: 'The first request with this key is not answered yet', retryable: true },
  definition_retired: { status: 410, title: 'The job definition has been retired', retryable: false },
  output_removed: { status: 410, title: 'The output is no longer kept', retryable: false },
  precondition_failed: { status: 412, title: 'It has changed since you read it', retryable: false },
  body_too_large: { status: 413, title: 'The body is too large', retryable: false },
  range_not_satisfiable: { status: 416, title: 'The object has no such bytes', retryable: false },
  digest_mismatch: { status: 422, title: 'The bytes are not what the digest says', retryable: false },
  bad_archive: { status: 422, title: 'The archive cannot be taken', retryable: false },
  store_failed: { status: 502, title: 'The storage behind the drive refused', retryable: false },
  quota_exceeded: { status: 507, title: 'The drive is full', retryable: false },
  unsupported_media_type: { status: 415, title: 'The body has the wrong content type', retryable: false },
  invalid_request: { status: 422, title: 'The request is not valid', retryable: false },
  job_refused: { status: 422, title: 'The scheduler cannot run this job as asked', retryable: false },
  idempotency_key_reused: { status: 422, title: 'The key was used with another body', retryable: false },
  precondition_required: { status: 428, title: 'Say which version you mean to change', retryable: false },
  internal_error: { status: 500, title: 'Berth made a mistake', retryable: true },
  unavailable: { status: 503, title: 'Berth cannot do that now', retryable: true },
} as const satisfies Record<string, { status: number; title: string; retryable: boolean }>

export type ProblemCode = keyof typeof PROBLEMS

export interface ProblemOptions extends ErrorOptions {
  readonly errors?: readonly Fault[]
  /** Becomes `Retry-After`, in seconds. */
  readonly retryAfterSeconds?: number
}

/** A refusal whose reason is the client's to know. Anything else that is thrown is a bug and becomes `internal_error`. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly code: ProblemCode
  readonly errors: readonly Fault[]
  readonly retryAfterSeconds: number | undefined

  /** @param detail what happened and what would be right, in a sentence. */
  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, options)
    this.code = code
    this.errors = options.errors ?? []
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  get status(): number {
    return PROBLEMS[this.code].status
  }
}
