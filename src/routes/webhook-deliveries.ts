import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { disconnectSignal } from '../plugins/disconnect-signal.ts'
import { getDelivery, listDeliveries, redeliver } from '../services/webhooks/deliveries.ts'
import { recoverDeliveries } from '../services/webhooks/recover-deliveries.ts'
import { testWebhook } from '../services/webhooks/test-webhook.ts'
import type { RouteOptions } from './route-options.ts'
import { pageSize } from './schemas/parameters.ts'
import { WEBHOOK_SCHEMAS } from './webhook-schemas.ts'

const TEST_WAIT_SECONDS = 20

/** See what webhooks were told, and have it told again. */
export const webhookDeliveryRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.get(
    '/v1/webhooks/:name/deliveries',
    { config: { access: 'key' }, schema: WEBHOOK_SCHEMAS.deliveries },
    ({ project, params: { name }, query: { limit, cursor, state, subject } }) => {
      const filters = { ...(state !== undefined && { state }), ...(subject !== undefined && { subject }) }
      return listDeliveries(deps, { project, name }, { filters, limit: pageSize(limit), cursor })
    },
  )

  app.get(
    '/v1/webhooks/:name/deliveries/:id',
    { config: { access: 'key' }, schema: WEBHOOK_SCHEMAS.delivery },
    ({ project, params: { name, id } }) => getDelivery(deps, { project, name }, id),
  )

  app.post(
    '/v1/webhooks/:name/deliveries/:id/redeliver',
    { config: { access: 'key' }, schema: WEBHOOK_SCHEMAS.redeliver },
    async ({ project, params: { name, id } }, reply: FastifyReply) => reply.code(202).send(await redeliver(deps, { project, name }, id)),
  )

  app.post(
    '/v1/webhooks/:name/test',
    { config: { access: 'key' }, schema: WEBHOOK_SCHEMAS.test },
    async ({ project, params: { name }, query: { wait } }, reply: FastifyReply) => {
      const options = { waitSeconds: wait ?? TEST_WAIT_SECONDS, signal: disconnectSignal(reply) }
      return reply.code(202).send(await testWebhook(deps, { project, name }, options))
    },
  )

  app.post(
    '/v1/webhooks/:name/recover',
    { config: { access: 'key' }, schema: WEBHOOK_SCHEMAS.recover },
    async ({ project, params: { name }, query: { since } }, reply: FastifyReply) =>
      reply.code(202).send(await recoverDeliveries(deps, { project, name }, since)),
  )
}
