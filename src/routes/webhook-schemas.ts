import { ifMatchHeaders } from './schemas/headers.ts'
import { noQuery, pageQuery } from './schemas/parameters.ts'
import { HEADERS, json, responses } from './schemas/responses.ts'
import {
  deliveriesQuery,
  delivery,
  deliveryPage,
  deliveryParams,
  newWebhook,
  recoverQuery,
  recovery,
  testQuery,
  webhook,
  webhookChange,
  webhookPage,
  webhookParams,
  webhookRotation,
  webhookWithKey,
} from './schemas/webhook.ts'

const tags = ['webhooks']
const ETag = HEADERS.etag
const params = webhookParams

/** What each route of webhooks takes and answers. */
export const WEBHOOK_SCHEMAS = {
  create: {
    operationId: 'createWebhook',
    tags,
    summary: 'Register a webhook',
    description:
      'Events are sent to it from now on, signed as Standard Webhooks 1.0 says. Its key is in this answer and in no other. The ' +
      'messages themselves are described in this document under `webhooks`.',
    querystring: noQuery,
    body: newWebhook,
    response: responses({ 201: json('The webhook, with its key.', webhookWithKey, { Location: HEADERS.location, ETag }) }),
  },
  list: {
    operationId: 'listWebhooks',
    tags,
    summary: 'List webhooks',
    description: 'By name, page by page.',
    querystring: pageQuery,
    response: responses({ 200: json('A page of webhooks.', webhookPage) }),
  },
  get: {
    operationId: 'getWebhook',
    tags,
    summary: 'Read a webhook',
    description: 'With how its receiver does; neither its key nor what its headers say.',
    params,
    querystring: noQuery,
    response: responses({ 200: json('The webhook.', webhook, { ETag }) }),
  },
  change: {
    operationId: 'changeWebhook',
    tags,
    summary: 'Change a webhook',
    description: 'What is left out stays. `enabled: true` sends again to one that was given up. Needs `If-Match`.',
    params,
    querystring: noQuery,
    headers: ifMatchHeaders,
    body: webhookChange,
    response: responses({ 200: json('The webhook as it is now.', webhook, { ETag }) }),
  },
  remove: {
    operationId: 'deleteWebhook',
    tags,
    summary: 'Delete a webhook',
    description: 'With all that was or is to be sent.',
    params,
    querystring: noQuery,
    response: responses({ 204: { description: 'It is gone.' } }),
  },
  rotate: {
    operationId: 'rotateWebhook',
    tags,
    summary: 'Give a webhook a new key',
    description: 'Messages carry signatures of both keys until the old one is over.',
    params,
    querystring: noQuery,
    body: webhookRotation,
    response: responses({ 200: json('The webhook, with its new key.', webhookWithKey, { ETag }) }),
  },
  test: {
    operationId: 'testWebhook',
    tags,
    summary: 'Try a webhook out',
    description: 'Sends a message of type `webhook.test`, and tells how the first try went.',
    params,
    querystring: testQuery,
    response: responses({ 202: json('The message, with its first try if that is over.', delivery) }),
  },
  recover: {
    operationId: 'recoverWebhook',
    tags,
    summary: 'Send what was missed',
    description:
      'All events since a time, of the last 30 days at most, that the webhook takes and was not told of, or whose message was given up.',
    params,
    querystring: recoverQuery,
    response: responses({ 202: json('How many are sent.', recovery) }),
  },
  deliveries: {
    operationId: 'listWebhookDeliveries',
    tags,
    summary: 'List deliveries',
    description: 'What was sent, with every try of 30 days; the newest first.',
    params,
    querystring: deliveriesQuery,
    response: responses({ 200: json('A page of deliveries.', deliveryPage) }),
  },
  delivery: {
    operationId: 'getWebhookDelivery',
    tags,
    summary: 'Read a delivery',
    description: 'With every try.',
    params: deliveryParams,
    querystring: noQuery,
    response: responses({ 200: json('The delivery.', delivery) }),
  },
  redeliver: {
    operationId: 'redeliverWebhookDelivery',
    tags,
    summary: 'Send a message again',
    description: 'Now, with the same id, whether it was taken or not.',
    params: deliveryParams,
    querystring: noQuery,
    response: responses({ 202: json('The delivery, which is due.', delivery) }),
  },
}
