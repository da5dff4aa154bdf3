import type { z } from 'zod'
import { nearestName } from './nearest-name.ts'

/**
 * What is wrong, and what would be right, in plain words; undefined leaves it to zod. A schema's own `error` goes first.
 * For unknown fields it gives the names that are known, parted by spaces: which was meant is told for each field.
 */
export function faultWords(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? `is missing: it must be ${wanted(issue)}` : `must be ${wanted(issue)}, not ${kindOf(issue.input)}`
    case 'unrecognized_keys':
      return knownFields(issue.inst).join(' ')
    case 'invalid_value':
      return oneOf(issue.values, issue.input)
    case 'invalid_union':
      return oneOf((issue['options'] as unknown[] | undefined) ?? [], (issue.input as { type?: unknown } | undefined)?.type)
    case 'too_small':
      return issue.origin === 'number' || issue.origin === 'int'
        ? `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`
        : `must have at least ${issue.minimum} ${unit(issue.origin, Number(issue.minimum))}`
    case 'too_big':
      return issue.origin === 'number' || issue.origin === 'int'
        ? `must be at most ${issue.maximum}`
        : `must have at most ${issue.maximum} ${unit(issue.origin, Number(issue.maximum))}`
    default:
      return undefined
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object of names and values',
}

function wanted(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string {
  const whole = issue.expected === 'number' && definitionOf(issue.inst)?.format === 'safeint'
  return KINDS[whole ? 'int' : issue.expected] ?? issue.expected
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a number with a fraction'
  return { string: 'text', boolean: 'true or false', object: 'an object' }[typeof value as string] ?? typeof value
}

function oneOf(values: readonly unknown[], input: unknown): string {
  const known = values.map(String)
  const choice = known.map((value) => `"${value}"`).join(' or ')
  if (input === undefined) return `is missing: it must be ${choice}`
  if (typeof input !== 'string') return `must be ${choice}, not ${kindOf(input)}`
  const meant = nearestName(input, known)
  return `must be ${choice}, not "${input.slice(0, 80)}"${meant === null ? '' : `; did you mean "${meant}"?`}`
}

const unit = (origin: string, count: number): string => {
  const word = origin === 'string' ? 'character' : 'item'
  return count === 1 ? word : `${word}s`
}

const knownFields = (schema: unknown): string[] => Object.keys(definitionOf(schema)?.shape ?? {})

/** What zod keeps of a schema: the fields of an object, the format of a number. */
function definitionOf(schema: unknown): { readonly shape?: object; readonly format?: string } | undefined {
  return (schema as { _zod?: { def?: object } } | undefined)?._zod?.def
}
