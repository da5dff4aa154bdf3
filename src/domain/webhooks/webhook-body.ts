import { z } from 'zod'
import type { Flaw } from '../fault.ts'
import { labelsBody } from '../labels-body.ts'
import { nameText } from '../names-on-the-wire.ts'
import { nearestName } from '../nearest-name.ts'
import { flaws, type PlacedFlaw } from '../parse-body.ts'
import { EVENT_PATTERNS } from './event-types.ts'
import { SIGNINGS } from './signature.ts'
import { webhookUrlFlaw } from './webhook-url.ts'

const fields = {
  url: z
    .string()
    .superRefine(flaws(webhookUrlFlaw))
    .meta({
      description: 'Where events are sent, by POST. HTTPS to the open internet, unless the operator allows more.',
      examples: ['https://example.org/berth'],
    }),
  events: z
    .array(z.string())
    .min(1)
    .max(EVENT_PATTERNS.length)
    .superRefine(flaws(eventFlaws))
    .meta({ description: 'Types of events, such as `job.succeeded`, all of a kind, such as `job.*`, or `*`.', examples: [['job.*']] }),
  labelSelector: labelsBody().meta({
    description: 'Only of jobs and drives that have all of these labels.',
    examples: [{ team: 'vision' }],
  }),
  scope: z
    .enum(['all', 'named'])
    .meta({ description: '`all`: of every job that the selector fits. `named`: only of jobs that name it in `webhooks`.' }),
  order: z.enum(['none', 'per_job']).meta({
    description:
      '`none`: at once; a receiver orders by `sequence`. `per_job`: the next event of a job waits until the one before was taken ' +
      'or given up.',
  }),
  headers: z
    .record(z.string().regex(/^[a-zA-Z][a-zA-Z0-9-]{0,63}$/, 'must be the name of a header'), z.string().min(1).max(4096))
    .superRefine(flaws(headerFlaws))
    .meta({ description: 'Sent along, such as `Authorization`. Their values are never shown again.' }),
}

/** A webhook, as a client writes it. */
export const NewWebhookBody = z
  .strictObject({
    name: nameText().meta({ description: 'Name of the webhook.', examples: ['ci'] }),
    url: fields.url,
    events: fields.events,
    labelSelector: fields.labelSelector.optional(),
    scope: fields.scope.optional(),
    order: fields.order.optional(),
    headers: fields.headers.optional(),
    signing: z
      .enum(SIGNINGS)
      .optional()
      .meta({ description: '`v1` (taken if it is left out): HMAC-SHA256 with a shared secret. `v1a`: ed25519 with a public key.' }),
  })
  .meta({
    id: 'NewWebhook',
    description: 'A webhook to register.',
    examples: [{ name: 'ci', url: 'https://example.org/berth', events: ['job.*'] }],
  })
export type NewWebhookBody = z.infer<typeof NewWebhookBody>

/** What is to be different about a webhook. */
export const WebhookChangeBody = z
  .strictObject({
    url: fields.url.optional(),
    events: fields.events.optional(),
    labelSelector: fields.labelSelector.optional(),
    scope: fields.scope.optional(),
    order: fields.order.optional(),
    headers: fields.headers.optional(),
    enabled: z.boolean().optional().meta({ description: 'Whether events are sent. True also forgets the failures of before.' }),
  })
  .meta({ id: 'WebhookChange', description: 'What is to be different; what is left out stays.' })
export type WebhookChangeBody = z.infer<typeof WebhookChangeBody>

/** For a new key. */
export const RotationBody = z
  .strictObject({
    overlapSeconds: z
      .int()
      .min(0)
      .max(7 * 86_400)
      .optional()
      .meta({ description: 'How long the old key signs too; a day if it is left out, 0 if it is known to others.' }),
  })
  .meta({ id: 'WebhookRotation', description: 'How a key is replaced.' })

function eventFlaws(events: readonly string[]): PlacedFlaw[] {
  return events.flatMap((event, index): PlacedFlaw[] => {
    if (EVENT_PATTERNS.includes(event)) return []
    const meant = nearestName(event, EVENT_PATTERNS)
    const hint = meant === null ? `known are ${EVENT_PATTERNS.join(', ')}` : `did you mean "${meant}"?`
    return [{ path: [index], code: 'unknown_value', detail: `there is no event "${event.slice(0, 80)}"; ${hint}` }]
  })
}

/** What belongs to the request itself, or to the signature. */
const OWN_HEADERS =
  /^(host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*|webhook-.*|user-agent|accept-encoding)$/i

function headerFlaws(headers: Readonly<Record<string, string>>): Flaw | null {
  const names = Object.keys(headers)
  const own = names.find((name) => OWN_HEADERS.test(name))
  if (own !== undefined) return { code: 'header_not_allowed', detail: `${own} is set by Berth itself` }
  if (names.length > 20) return { code: 'too_many', detail: `must have at most 20 headers, not ${names.length}` }
  const broken = names.find((name) => !/^[\t\x20-\x7e]*$/.test(headers[name] ?? ''))
  return broken === undefined ? null : { code: 'bad_value', detail: `${broken} must be printable ASCII` }
}
