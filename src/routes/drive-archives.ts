import type { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { disconnectSignal } from '../plugins/disconnect-signal.ts'
import { takeRawBodies } from '../plugins/raw-body.ts'
import { getArchive, putArchive } from '../services/objects/archives.ts'
import { driveOf } from './drive-of.ts'
import { OBJECT_SCHEMAS } from './drive-object-schemas.ts'
import type { RouteOptions } from './route-options.ts'

/** Put and get many objects at once, as tar streams. */
export const driveArchiveRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  takeRawBodies(app)

  app.get(
    '/v1/drives/:name/archive',
    { config: { access: 'key', reach: 'prefix' }, exposeHeadRoute: false, schema: OBJECT_SCHEMAS.getArchive },
    async (request, reply: FastifyReply) => {
      const { params, query } = request
      const archive = await getArchive(deps, driveOf(request), {
        prefix: (query.prefix ?? '').replace(/\/$/, ''),
        signal: disconnectSignal(reply),
      })
      return reply.type('application/x-tar').header('content-disposition', `attachment; filename="${params.name}.tar"`).send(archive)
    },
  )

  app.put(
    '/v1/drives/:name/archive',
    { config: { access: 'key', reach: 'prefix', longBody: true }, schema: OBJECT_SCHEMAS.putArchive },
    (request, reply: FastifyReply) => {
      const { query, body, raw, grant } = request
      return putArchive(deps, driveOf(request), {
        prefix: (query.prefix ?? '').replace(/\/$/, ''),
        component: query.component ?? grant?.producer,
        onConflict: query.onConflict ?? 'replace',
        body: (body as Readable | undefined) ?? raw,
        signal: disconnectSignal(reply),
      })
    },
  )
}
