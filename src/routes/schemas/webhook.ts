import { z } from 'zod'
import { SIGNINGS } from '../../domain/webhooks/signature.ts'
import { NewWebhookBody, RotationBody, WebhookChangeBody } from '../../domain/webhooks/webhook-body.ts'
import { pageQuery } from './parameters.ts'
import { count, word } from './query-words.ts'
import { pageOf } from './page.ts'
import { time } from './time.ts'

export const newWebhook = NewWebhookBody
export const webhookChange = WebhookChangeBody
export const webhookRotation = RotationBody

const health = z
  .object({
    failures: z.int().meta({ description: 'In a row, by now.' }),
    failingSince: time.nullable(),
    pausedUntil: time
      .nullable()
      .meta({ description: 'Nothing is sent until then; after ten failures in a row there is one try a minute.' }),
  })
  .meta({ id: 'WebhookHealth', description: 'How its receiver does.' })

const fields = {
  id: z.string(),
  name: z.string(),
  version: z.int().meta({ description: 'Grows with every change.' }),
  url: z.string(),
  events: z.array(z.string()),
  labelSelector: z.record(z.string(), z.string()),
  scope: z.enum(['all', 'named']),
  order: z.enum(['none', 'per_job']),
  signing: z.enum(SIGNINGS),
  headerNames: z.array(z.string()).meta({ description: 'Headers that are sent along; their values are never shown.' }),
  enabled: z.boolean(),
  disabledReason: z
    .string()
    .nullable()
    .meta({ description: '`failing`: nothing but failures for five days. `gone`: it answered 410. Null where a client has said so.' }),
  health,
  createdAt: time,
  updatedAt: time,
}

export const webhook = z.object(fields).meta({ id: 'Webhook', description: 'Where events are sent.' })
export const webhookPage = pageOf(webhook, 'WebhookPage', 'Webhooks, by name.')
export const webhookWithKey = z
  .object({
    ...fields,
    key: z.string().meta({
      description: 'What messages are verified with: a secret `whsec_…`, or the public key `whpk_…`. It is not shown again.',
    }),
  })
  .meta({ id: 'WebhookWithKey', description: 'A webhook with its new key.' })

const attempt = z
  .object({
    number: z.int(),
    at: time,
    status: z.int().nullable().meta({ description: 'Of the answer; null if there was none.' }),
    latencyMs: z.int(),
    error: z.string().nullable().meta({ description: 'Why it does not count as taken, in the words of who refused it.' }),
    answer: z.string().nullable().meta({ description: 'The beginning of the answer.' }),
  })
  .meta({ id: 'WebhookAttempt', description: 'One try of a delivery.' })

const STATES = ['pending', 'delivered', 'failed'] as const

export const delivery = z
  .object({
    id: z.string().meta({ description: 'The `webhook-id` of every try of it.' }),
    type: z.string(),
    subject: z.string().meta({ description: 'Id of what it is about.' }),
    sequence: z.int().meta({ description: 'Of the event among those of its subject.' }),
    state: z.enum(STATES).meta({ description: '`failed`: every try of three days failed, and it is given up.' }),
    eventAt: time,
    deliveredAt: time.nullable(),
    nextAttemptAt: time.nullable().meta({ description: 'Null once it is over.' }),
    data: z.record(z.string(), z.unknown()).meta({ description: 'What the message says.' }),
    attempts: z.array(attempt),
  })
  .meta({ id: 'WebhookDelivery', description: 'A message on its way to a webhook.' })

export const deliveryPage = pageOf(delivery, 'WebhookDeliveryPage', 'Deliveries, the newest first.')

export const recovery = z
  .object({
    retried: z.int().meta({ description: 'Messages that were given up and are tried again.' }),
    added: z.int().meta({ description: 'Events that it was never told of, such as while it was not enabled.' }),
  })
  .meta({ id: 'WebhookRecovery', description: 'What is sent again.' })

const name = z.string().meta({ description: 'Name of the webhook.', examples: ['ci'] })
export const webhookParams = z.strictObject({ name })
export const deliveryParams = z.strictObject({ name, id: z.string().meta({ description: 'Id of the delivery.' }) })

export const deliveriesQuery = pageQuery.extend({
  state: z
    .enum(STATES, { error: `must be ${STATES.join(', ')}` })
    .optional()
    .meta({ description: 'Only those in this state.' }),
  subject: word(255).optional().meta({ description: 'Only those about the job or drive with this id.' }),
})

export const recoverQuery = z.strictObject({
  since: z.iso
    .datetime({ offset: true, error: 'must be a time such as 2026-01-31T12:00:00Z' })
    .meta({ description: 'Time of the first event that may be missing.', examples: ['2026-01-31T12:00:00Z'] }),
})

export const testQuery = z.strictObject({
  wait: count(0, 30).optional().meta({ description: 'Answer after the first try, or after so many seconds; 20 if it is left out.' }),
})
