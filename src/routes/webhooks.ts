import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { parseBody } from '../domain/parse-body.ts'
import { entityTag, requireMatch } from '../plugins/entity-tag.ts'
import type { WebhookView } from '../services/webhooks/webhook-view.ts'
import { changeWebhook, createWebhook, deleteWebhook, getWebhook, listWebhooks } from '../services/webhooks/webhooks.ts'
import { parsedBody } from './parsed-body.ts'
import type { RouteOptions } from './route-options.ts'
import { pageSize } from './schemas/parameters.ts'
import { newWebhook, webhookChange } from './schemas/webhook.ts'
import { WEBHOOK_SCHEMAS } from './webhook-schemas.ts'

/** Register, read, change and delete webhooks. */
export const webhookRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.post('/v1/webhooks', { config: { access: 'key' }, schema: WEBHOOK_SCHEMAS.create }, async ({ project, body }, reply) => {
    const made = await createWebhook(
      deps,
      project,
      parsedBody(body, (given) => parseBody(newWebhook, given)),
    )
    return tagged(reply, made).code(201).header('location', `/v1/webhooks/${made.name}`).send(made)
  })

  app.get('/v1/webhooks', { config: { access: 'key' }, schema: WEBHOOK_SCHEMAS.list }, ({ project, query: { limit, cursor } }) =>
    listWebhooks(deps, { project, limit: pageSize(limit), cursor }),
  )

  app.get('/v1/webhooks/:name', { config: { access: 'key' }, schema: WEBHOOK_SCHEMAS.get }, async ({ project, params }, reply) => {
    const found = await getWebhook(deps, { project, name: params.name })
    return tagged(reply, found).send(found)
  })

  app.patch(
    '/v1/webhooks/:name',
    { config: { access: 'key' }, schema: WEBHOOK_SCHEMAS.change },
    async ({ project, params, body, headers }, reply) => {
      const change = parsedBody(body, (given) => parseBody(webhookChange, given))
      const from = await getWebhook(deps, { project, name: params.name })
      requireMatch(headers['if-match'], tagOf(from))
      const changed = await changeWebhook(deps, from, change)
      return tagged(reply, changed).send(changed)
    },
  )

  app.delete('/v1/webhooks/:name', { config: { access: 'key' }, schema: WEBHOOK_SCHEMAS.remove }, async ({ project, params }, reply) => {
    await deleteWebhook(deps, { project, name: params.name })
    return reply.code(204).send()
  })
}

const tagOf = ({ name, version }: WebhookView): string => entityTag(name, version)
const tagged = (reply: FastifyReply, view: WebhookView): FastifyReply => reply.header('etag', tagOf(view))
