import type { z } from 'zod'
import { jsonPointer, type Fault, type Flaw, type Parsed } from './fault.ts'
import { nearestName } from './nearest-name.ts'
import { unsafeContent } from './unsafe-content.ts'
import { valueAt } from './value-at.ts'
import { faultWords } from './fault-words.ts'

/** Reads a body by a schema. Never throws; every fault is given at once, each with its own pointer, code and plain words. */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown): Parsed<T> {
  const unsafe = unsafeContent(body)
  const read = schema.safeParse(body, { error: faultWords })
  if (read.success && unsafe.length === 0) return { ok: true, value: read.data }
  return { ok: false, faults: [...unsafe, ...(read.error?.issues ?? []).flatMap((issue) => faultsOf(issue, body))] }
}

/** A flaw of something inside the value that was looked at. */
export interface PlacedFlaw extends Flaw {
  /** From the value on; the value itself if it is left out. */
  readonly path?: readonly PropertyKey[]
}

/** A zod check that reports flaws with codes of their own: `z.string().superRefine(flaws(pathFlaw))`. */
export const flaws =
  <T>(find: (value: T) => PlacedFlaw | readonly PlacedFlaw[] | null) =>
  (value: T, context: z.RefinementCtx): void => {
    for (const { code, detail, path = [] } of [find(value) ?? []].flat()) {
      context.addIssue({ code: 'custom', message: detail, path: [...path], params: { code } })
    }
  }

function faultsOf(issue: z.core.$ZodIssue, body: unknown): Fault[] {
  const { path, message: detail } = issue
  if (issue.code === 'unrecognized_keys') return unknownFields(issue)
  if (issue.code === 'invalid_key') return issue.issues.flatMap((inner) => faultsOf({ ...inner, path } as z.core.$ZodIssue, body))
  return [{ pointer: jsonPointer(path), code: codeOf(issue, valueAt(body, path)), detail }]
}

/** The words of this issue are the known names: see `faultWords`. */
function unknownFields({ keys, path, message }: z.core.$ZodIssueUnrecognizedKeys): Fault[] {
  const known = message.split(' ')
  return keys
    .filter((key) => key !== '__proto__')
    .map((key) => {
      const meant = nearestName(key, known)
      const hint = meant === null ? `known are ${known.join(', ')}` : `did you mean "${meant}"?`
      return {
        pointer: jsonPointer([...path, key]),
        code: 'unknown_field',
        detail: `there is no field "${key.slice(0, 80)}" here; ${hint}`,
      }
    })
}

function codeOf(issue: z.core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case 'custom':
      return typeof issue.params?.['code'] === 'string' ? issue.params['code'] : 'invalid'
    case 'invalid_type':
      return value === undefined ? 'missing_field' : 'wrong_type'
    case 'invalid_union':
    case 'invalid_value':
      return value === undefined ? 'missing_field' : typeof value === 'string' ? 'unknown_value' : 'wrong_type'
    case 'too_small':
    case 'too_big':
      return SIZE_CODES[issue.origin]?.[issue.code] ?? 'out_of_range'
    case 'invalid_format':
      return 'bad_format'
    default:
      return 'invalid'
  }
}

const SIZE_CODES: Readonly<Record<string, { readonly too_small: string; readonly too_big: string }>> = {
  string: { too_small: 'too_short', too_big: 'too_long' },
  array: { too_small: 'too_few', too_big: 'too_many' },
}
