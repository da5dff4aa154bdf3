import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { disconnectSignal } from '../plugins/disconnect-signal.ts'
import { takeRawBodies } from '../plugins/raw-body.ts'
import { getArchive, putArchive } from '../services/objects/archives.ts'
import { OBJECT_SCHEMAS } from './drive-object-schemas.ts'
import type { RouteOptions } from './route-options.ts'

/** Put and get many objects at once, as tar streams. */
export const driveArchiveRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  takeRawBodies(app)

  app.get(
    '/v1/drives/:name/archive',
    { config: { access: 'key' }, exposeHeadRoute: false, schema: OBJECT_SCHEMAS.getArchive },
    async ({ project, params, query }, reply: FastifyReply) => {
      const archive = await getArchive(
        deps,
        { project, name: params.name },
        { prefix: (query.prefix ?? '').replace(/\/$/, ''), signal: disconnectSignal(reply) },
      )
      return reply.type('application/x-tar').header('content-disposition', `attachment; filename="${params.name}.tar"`).send(archive)
    },
  )

  app.put(
    '/v1/drives/:name/archive',
    { config: { access: 'key', longBody: true }, schema: OBJECT_SCHEMAS.putArchive },
    ({ project, params, query, body, raw }, reply: FastifyReply) =>
      putArchive(
        deps,
        { project, name: params.name },
        {
          prefix: (query.prefix ?? '').replace(/\/$/, ''),
          component: query.component,
          onConflict: query.onConflict ?? 'replace',
          body: (body as Readable | undefined) ?? raw,
          signal: disconnectSignal(reply),
        },
      ),
  )
}
