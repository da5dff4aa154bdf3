import { z } from 'zod'
import { PROBLEM_MEDIA_TYPE, problemBody } from '../../plugins/problem-body.ts'

/** A header of an answer, as a JSON schema with a description. */
interface HeaderSchema {
  readonly type: 'string'
  readonly description: string
}

export interface Answer {
  readonly description: string
  /** Schema of the body for each media type; left out for an answer without a body. */
  readonly content?: Readonly<Record<string, { readonly schema: z.ZodType }>>
  readonly headers?: Readonly<Record<string, HeaderSchema>>
}

const problem = (description: string): Answer => ({ description, content: { [PROBLEM_MEDIA_TYPE]: { schema: problemBody } } })

/** The form in which the OpenAPI plugin takes an answer without a body. */
const withoutBody = ({ description }: Answer): z.ZodType => z.null().meta({ description })

/** The answers of a route, with problems for all that is not said. `unknown`: answers are typed by the services. */
export const responses = (answers: Readonly<Record<number, Answer>>): Record<string, unknown> => ({
  ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answer.content ? answer : withoutBody(answer)])),
  '4xx': problem('What was asked for cannot be done as asked; the problem says why.'),
  default: problem('Berth could not do it; `retryable` says whether trying again helps.'),
})

/** An answer in JSON. */
export const json = (description: string, schema: z.ZodType, headers?: Answer['headers']): Answer => ({
  description,
  content: { 'application/json': { schema } },
  ...(headers && { headers }),
})

export const HEADERS = {
  location: { type: 'string', description: 'Where it lives.' },
  etag: { type: 'string', description: 'Strong entity tag of the version; for `If-Match` and `If-None-Match`.' },
  replayed: { type: 'string', description: '`true` when this answers a repeated request: nothing new was made.' },
} as const satisfies Record<string, HeaderSchema>
