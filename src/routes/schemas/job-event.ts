import { z } from 'zod'
import { EXAMPLE_JOB_ID, jobState } from './job.ts'
import { time } from './time.ts'

export const jobEvent = z
  .object({
    jobId: z.string(),
    sequence: z.int().meta({ description: 'Per job, from 1, without gaps.' }),
    type: z.string().meta({ description: '`job.` and the state for a change of state, else `job.progress`. More may be added.' }),
    attempt: z.int(),
    state: jobState,
    reason: z.string().nullable(),
    detail: z.string().nullable(),
    figures: z
      .object({ bytes: z.int(), files: z.int(), totalBytes: z.int() })
      .nullable()
      .meta({ description: 'How far the copying of drives is, in or out; null for other events.' }),
    at: time,
  })
  .meta({
    id: 'JobEvent',
    description: 'A recorded change of a job.',
    examples: [
      {
        jobId: EXAMPLE_JOB_ID,
        sequence: 3,
        type: 'job.running',
        attempt: 1,
        state: 'running',
        reason: null,
        detail: null,
        figures: null,
        at: '2026-01-31T12:00:00.000Z',
      },
    ],
  })

export const jobEvents = z
  .object({
    items: z.array(jobEvent),
    last: z.boolean().meta({ description: 'Whether nothing will follow: the final event is among these, or before them.' }),
  })
  .meta({ id: 'JobEvents', description: 'Events in order. For the next page give the last `sequence` as `after`.' })
