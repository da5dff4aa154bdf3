import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { parseBody } from '../domain/parse-body.ts'
import { entityTag } from '../plugins/entity-tag.ts'
import { rotateWebhook } from '../services/webhooks/webhooks.ts'
import { parsedBody } from './parsed-body.ts'
import type { RouteOptions } from './route-options.ts'
import { webhookRotation } from './schemas/webhook.ts'
import { WEBHOOK_SCHEMAS } from './webhook-schemas.ts'

const DAY_SECONDS = 86_400

/** Replace the keys of webhooks. */
export const webhookKeyRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.post(
    '/v1/webhooks/:name/rotate',
    { config: { access: 'key' }, schema: WEBHOOK_SCHEMAS.rotate },
    async ({ project, params, body }, reply) => {
      const { overlapSeconds = DAY_SECONDS } = parsedBody(body ?? {}, (given) => parseBody(webhookRotation, given))
      const rotated = await rotateWebhook(deps, { project, name: params.name }, overlapSeconds)
      return reply.header('etag', entityTag(rotated.name, rotated.version)).send(rotated)
    },
  )
}
