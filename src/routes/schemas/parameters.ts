import { z } from 'zod'
import { LOG_STREAMS } from '../../domain/attempt.ts'
import { EXAMPLE_JOB_ID, jobState } from './job.ts'
import { count, cursor, DEFAULT_PAGE, limit, word, yesOrNo } from './query-words.ts'

const MAX_WAIT_SECONDS = 60

export const jobParams = z.strictObject({ id: z.string().meta({ description: 'Id of the job.', examples: [EXAMPLE_JOB_ID] }) })
export const definitionParams = z.strictObject({
  name: z.string().meta({ description: 'Name of the job definition.', examples: ['train'] }),
})
export const versionParams = definitionParams.extend({
  version: count(1, 2 ** 31 - 1).meta({ description: 'Number of the version, from 1.' }),
})

/** Query of a list without filters. */
export const pageQuery = z.strictObject({ limit, cursor })

/** How many items a page has when the client does not say. */
export const pageSize = (asked: number | undefined): number => asked ?? DEFAULT_PAGE

export const noQuery = z.strictObject({})

export const jobListQuery = pageQuery.extend({
  state: z
    .preprocess(listOf, z.array(jobState))
    .optional()
    .meta({ description: 'Only jobs in one of these states. May be repeated, or separated by commas.' }),
  scheduler: word(255).optional().meta({ description: 'Only jobs of this scheduler.' }),
  name: word(255).optional().meta({ description: 'Only jobs with exactly this name.' }),
  label: z
    .preprocess(repeated, z.array(z.string().regex(/^[^=]+=/, 'must be key=value')).max(64, 'must be given at most 64 times'))
    .refine((pairs) => new Set(pairs.map(keyOf)).size === pairs.length, 'must name each key once')
    .optional()
    .meta({ description: 'Only jobs with this label, as `key=value`. May be repeated; all must fit.', examples: [['team=vision']] }),
})

/** `key=value` pairs as a record. Keys are own properties whatever they are called. */
export const labelsOf = (pairs: readonly string[] | undefined): Record<string, string> | undefined =>
  pairs && Object.fromEntries(pairs.map((pair) => [keyOf(pair), pair.slice(pair.indexOf('=') + 1)]))

export const jobQuery = z.strictObject({
  wait: count(0, MAX_WAIT_SECONDS)
    .optional()
    .meta({ description: 'Answer when the job has ended, or after so many seconds with where it stands then. At once if it is left out.' }),
})

const after = count(0, 2 ** 31 - 1)
  .optional()
  .meta({ description: 'Only events after this sequence number. `Last-Event-ID` wins over it.' })

export const eventsQuery = z.strictObject({ after, limit })

export const logsQuery = z.strictObject({
  follow: yesOrNo().optional().meta({ description: 'Go on until the job has ended. Otherwise what is there now.' }),
  role: word(255).optional().meta({ description: 'Only this role.' }),
  replica: count(0, 1_000_000).optional().meta({ description: 'Only replicas with this index.' }),
  attempt: count(1, 1_000_000)
    .optional()
    .meta({ description: 'Only this attempt; all of them, one after the other, if it is left out.' }),
  stream: z
    .enum(LOG_STREAMS, { error: `must be ${LOG_STREAMS.join(' or ')}` })
    .optional()
    .meta({ description: 'Only this stream; both if it is left out.' }),
  since: z.iso
    .datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z' })
    .optional()
    .meta({ description: 'Only output that was read at this time or later.' }),
  tail: count(0, 1_000_000)
    .optional()
    .meta({ description: 'Only the last so many lines of each replica, and what comes after them.' }),
  cursor: word(16_384).optional().meta({ description: 'Go on right after the line with this cursor. `Last-Event-ID` wins over it.' }),
})

function repeated(given: unknown): unknown {
  return typeof given === 'string' ? [given] : given
}

function listOf(given: unknown): unknown {
  return [given].flat().flatMap((text) => (typeof text === 'string' ? text.split(',') : [text]))
}

function keyOf(pair: string): string {
  return pair.slice(0, pair.indexOf('='))
}
