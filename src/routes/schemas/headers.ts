import { z } from 'zod'

/** Headers of a request that its route reads. Others pass. */
export const idempotencyHeaders = z.looseObject({
  'idempotency-key': z
    .string()
    .optional()
    .meta({
      description:
        'Makes the request safe to repeat for 24 hours: the same key and body get the first answer again. 1 to 255 printable characters.',
      examples: ['8e03978e-40d5-43dd-bc93-6894a57f9324'],
    }),
})

export const ifMatchHeaders = z.looseObject({
  'if-match': z
    .string()
    .optional()
    .meta({ description: 'ETag of the version that you read, or `*`. Needed.', examples: ['"train-3"'] }),
})

export const ifNoneMatchHeaders = z.looseObject({
  'if-none-match': z
    .string()
    .optional()
    .meta({ description: 'ETag that you have already: 304 if it is still that.', examples: ['"train-3"'] }),
})

export const lastEventIdHeaders = z.looseObject({
  'last-event-id': z
    .string()
    .optional()
    .meta({ description: 'The last id that you got: the stream goes on after it. Set by EventSource itself.' }),
})
