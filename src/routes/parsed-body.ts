import type { Parsed } from '../domain/fault.ts'
import { Problem } from '../domain/problem.ts'

/**
 * What a parser of the domain read from a body.
 *
 * @throws Problem `malformed_request` without a body, `invalid_request` with every fault of it
 */
export function parsedBody<T>(body: unknown, parse: (body: unknown) => Parsed<T>): T {
  if (body === undefined || body === null) throw new Problem('malformed_request', 'A JSON object is needed as the body.')
  const parsed = parse(body)
  if (parsed.ok) return parsed.value
  const { faults } = parsed
  throw new Problem(
    'invalid_request',
    faults.length === 1 ? 'One thing in the body is wrong.' : `${faults.length} things in the body are wrong.`,
    {
      errors: faults,
    },
  )
}
