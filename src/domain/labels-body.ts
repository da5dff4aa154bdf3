import { z } from 'zod'
import type { Flaw } from './fault.ts'
import { flaws } from './parse-body.ts'
import { REQUEST_LIMITS } from './request-limits.ts'

/** Labels on the wire. */
export const labelsBody = () =>
  z
    .record(
      z.string().regex(/^[a-zA-Z0-9]([a-zA-Z0-9._/-]{0,61}[a-zA-Z0-9])?$/, 'must be 1 to 63 letters, digits, ".", "_", "/" or "-"'),
      z.string().max(REQUEST_LIMITS.labelValueLength),
    )
    .superRefine(flaws(labelFlaws))
    .meta({ description: 'Names and values to find it by; they mean nothing to Berth.', examples: [{ team: 'vision' }] })

function labelFlaws(labels: Readonly<Record<string, string>>): Flaw | null {
  const count = Object.keys(labels).length
  return count <= REQUEST_LIMITS.labels
    ? null
    : { code: 'too_many', detail: `must have at most ${REQUEST_LIMITS.labels} labels, not ${count}` }
}
