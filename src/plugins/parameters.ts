import type { FastifySchemaCompiler } from 'fastify'
import { z } from 'zod'
import type { Fault } from '../domain/fault.ts'
import { Problem } from '../domain/problem.ts'

/**
 * Checks path and query parameters against their schema and names all that are wrong at once. The schemas carry
 * their own message ("must be ..."), which is shown as it is; query parameters point to `?name`, those in the path
 * to `/name`.
 *
 * A schema of a body only documents it: bodies are read by the parsers of the domain, whose faults say more.
 */
export const parameterCompiler: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart }) => {
  if (httpPart === 'body') return (body: unknown) => ({ value: body })
  const prefix = httpPart === 'querystring' ? '?' : '/'
  const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
  return (given: unknown) => {
    const result = schema.safeParse(given)
    if (result.success) return { value: result.data }
    return { error: invalidParameters(result.error.issues.flatMap((issue) => faultsOf(issue, prefix, known))) }
  }
}

function faultsOf(issue: z.core.$ZodIssue, prefix: string, known: readonly string[]): Fault[] {
  if (issue.code !== 'unrecognized_keys') {
    return [{ pointer: `${prefix}${String(issue.path[0] ?? '')}`, code: 'invalid_parameter', detail: issue.message }]
  }
  const detail = known.length === 0 ? 'this address takes no parameters' : `there is no such parameter; there are: ${known.join(', ')}`
  return issue.keys.map((key) => ({ pointer: `${prefix}${key}`, code: 'unknown_parameter', detail }))
}

const invalidParameters = (errors: readonly Fault[]): Problem =>
  new Problem('invalid_request', errors.length === 1 ? 'A parameter is wrong.' : `${errors.length} parameters are wrong.`, { errors })
