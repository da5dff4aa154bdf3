import type { OpenAPIV3_1 } from 'openapi-types'
import type { z } from 'zod'
import { driveMessage, jobMessage, webhookMessage } from './schemas/webhook-message.ts'

/** A message that Berth sends, by its event types; its schema is a component of the document. */
interface Message {
  readonly schema: z.ZodType
  readonly summary: string
}

const MESSAGES: Readonly<Record<string, Message>> = {
  job: { schema: jobMessage, summary: 'A job has changed' },
  drive: { schema: driveMessage, summary: 'The objects of a drive have changed' },
  webhook: { schema: webhookMessage, summary: 'A webhook was given up, or is tried out' },
}

const DESCRIPTION = `Sent by POST to every webhook that takes it, at least once, until it is answered with a 2xx within 15 s:
again after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h. \`Retry-After\` is obeyed; 410 ends the webhook; redirects are
not followed. Verify the signature before anything is believed; take a \`webhook-id\` once; order by \`data.sequence\`.`

const header = (name: string, description: string, example: string): OpenAPIV3_1.ParameterObject => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
})

const HEADERS = [
  header('webhook-id', 'Of the message, the same in every try.', 'msg_5f0c2d4e9b7a4c1e8d3f6a2b1c0d9e8f'),
  header('webhook-timestamp', 'When this try was signed, in seconds since 1970: refuse what is older than 5 minutes.', '1769860800'),
  header(
    'webhook-signature',
    'Signatures of `id.timestamp.body`, with spaces between, each `v1,` and base64 of HMAC-SHA256, or `v1a,` and base64 of ed25519.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
]

/** The section `webhooks` of the document (OpenAPI 3.1): what receivers must understand. */
export const webhookMessages = (): NonNullable<OpenAPIV3_1.Document['webhooks']> =>
  Object.fromEntries(
    Object.entries(MESSAGES).map(([kind, { schema, summary }]) => [
      kind,
      {
        post: {
          operationId: `receive${schema.meta()?.id}`,
          tags: ['messages'],
          summary,
          description: DESCRIPTION,
          security: [],
          parameters: HEADERS,
          requestBody: {
            required: true,
            content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema.meta()?.id}` } } },
          },
          responses: {
            '2XX': { description: 'It is taken, and not sent again.' },
            '410': { description: 'Nothing more is wanted: the webhook is not enabled any longer.' },
            default: { description: 'It is sent again later.' },
          },
        },
      },
    ]),
  )
