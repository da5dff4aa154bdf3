import { z } from 'zod'
import { LOG_STREAMS } from '../../domain/attempt.ts'
import { time } from './time.ts'

export const logLine = z
  .object({
    attempt: z.int(),
    role: z.string(),
    replica: z.int(),
    stream: z.enum(LOG_STREAMS).meta({ id: 'LogStream', description: 'Which output of a replica.' }),
    at: time.meta({ description: 'When it was read from the replica.' }),
    cursor: z.string().nullable().meta({
      description:
        'Give it as `cursor` to go on right after this line. Null where no place to go on is known: then the last that was given counts.',
    }),
    text: z.string().optional().meta({ description: 'The line without its newline; absent when it is not UTF-8.' }),
    base64: z.string().optional().meta({ description: 'The bytes of the line without its newline, when they are not UTF-8.' }),
    partial: z.boolean().optional().meta({
      description: 'True when no newline follows: the line goes on in the next one of the same replica and stream, or output ended there.',
    }),
  })
  .meta({
    id: 'LogLine',
    description: 'One line of output: `text` or `base64`, and `partial` where the line is longer than a piece may be.',
    examples: [
      {
        attempt: 1,
        role: 'trainer',
        replica: 0,
        stream: 'stdout',
        at: '2026-01-31T12:00:00.000Z',
        cursor: 'MToyOjM',
        text: 'epoch 1 of 10',
      },
    ],
  })
