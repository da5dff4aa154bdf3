import { z } from 'zod'

export const DEFAULT_PAGE = 50
const MAX_PAGE = 200

/** A whole number in a query, or a path. */
export function count(min: number, max: number) {
  const words = { error: `must be a whole number from ${min} to ${max}` }
  return z.preprocess(
    (text) => (typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : text),
    z.int(words).min(min, words).max(max, words),
  )
}

/** A text in a query. */
export function word(max: number) {
  const words = { error: `must be given once, as 1 to ${max} characters` }
  // Postgres has no NUL in its text.
  return z
    .string(words)
    .min(1, words)
    .max(max, words)
    .refine((text) => !text.includes('\0'), 'must not have a NUL character')
}

/** A flag in a query; alone it means yes. */
export function yesOrNo() {
  const meanings = new Map<unknown, boolean>([
    ['', true],
    ['true', true],
    ['1', true],
    ['false', false],
    ['0', false],
  ])
  return z.preprocess((text) => meanings.get(text) ?? text, z.boolean({ error: 'must be true or false' }))
}

/** How many items a page may have. */
export const limit = count(1, 1_000_000)
  .transform((items) => Math.min(items, MAX_PAGE))
  .optional()
  .meta({ description: `Items in a page: ${DEFAULT_PAGE} if it is left out, ${MAX_PAGE} at most (more is taken as that).` })
/** Where a page begins. */
export const cursor = word(1024).optional().meta({ description: '`nextCursor` of the page before.' })
