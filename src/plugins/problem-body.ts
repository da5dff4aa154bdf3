import { z } from 'zod'
import type { Problem } from '../domain/problem.ts'
import { PROBLEMS } from '../domain/problem.ts'

export const PROBLEM_MEDIA_TYPE = 'application/problem+json'

const faultBody = z
  .object({
    pointer: z
      .string()
      .meta({ description: 'RFC 6901 pointer into the request body (the empty string is all of it), or `?name` for a query parameter.' }),
    code: z.string().meta({ description: 'Stable name of the reason, for programs.' }),
    detail: z.string().meta({ description: 'What is wrong and what would be right, for people.' }),
  })
  .meta({
    id: 'Fault',
    description: 'One thing that is wrong with a request.',
    examples: [{ pointer: '/roles/0/replicas', code: 'out_of_range', detail: 'must be a whole number from 1 to 1000' }],
  })

/** The body of every answer that is not a success (RFC 9457). */
export const problemBody = z
  .object({
    type: z.string().meta({ description: 'Stable URI of the kind of problem, made from the code.' }),
    title: z.string().meta({ description: 'The kind of problem, the same for each occurrence.' }),
    status: z.int().meta({ description: 'The HTTP status again.' }),
    detail: z.string().meta({ description: 'What happened and what would be right.' }),
    instance: z.string().meta({ description: 'The path that was asked for.' }),
    code: z.string().meta({ description: `Stable name, for programs. Known values: ${Object.keys(PROBLEMS).join(', ')}.` }),
    requestId: z.string().meta({ description: 'The same as `X-Request-Id`; name it when you ask for help.' }),
    retryable: z.boolean().meta({ description: 'Whether the same request may succeed later.' }),
    errors: z.array(faultBody).meta({ description: 'Every fault of the request at once; empty when it is not about what was sent.' }),
  })
  .meta({
    id: 'Problem',
    description: 'Why a request was not done (RFC 9457).',
    examples: [
      {
        type: 'urn:berth:problem:invalid_request',
        title: PROBLEMS.invalid_request.title,
        status: 422,
        detail: 'One thing in the request is wrong.',
        instance: '/v1/jobs',
        code: 'invalid_request',
        requestId: 'req_01h455vb4pex5vsknk084sn02q',
        retryable: false,
        errors: [{ pointer: '/roles/0/replicas', code: 'out_of_range', detail: 'must be a whole number from 1 to 1000' }],
      },
    ],
  })

export type ProblemBody = z.infer<typeof problemBody>

export interface ProblemOccurrence {
  readonly requestId: string
  /** Path of the request, without its query. */
  readonly instance: string
}

/** A problem as it goes over the wire. Pure. */
export function toProblemBody(problem: Problem, { requestId, instance }: ProblemOccurrence): ProblemBody {
  const { title, status, retryable } = PROBLEMS[problem.code]
  const errors = problem.errors.map(({ pointer, code, detail }) => ({ pointer, code, detail }))
  return {
    type: `urn:berth:problem:${problem.code}`,
    title,
    status,
    detail: problem.message,
    instance,
    code: problem.code,
    requestId,
    retryable,
    errors,
  }
}
