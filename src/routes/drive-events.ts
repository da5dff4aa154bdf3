import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { breakageReport } from '../plugins/breakage-report.ts'
import { disconnectSignal } from '../plugins/disconnect-signal.ts'
import { parseBody } from '../domain/parse-body.ts'
import { chooseMediaType } from '../plugins/media-type.ts'
import { sendEvents, SSE_HEADERS, type ServerSentEvent } from '../plugins/server-sent-events.ts'
import { listDriveEvents, streamDriveEvents, type DriveEvent } from '../services/objects/drive-events.ts'
import { presignObject } from '../services/objects/presign-object.ts'
import { OBJECT_SCHEMAS } from './drive-object-schemas.ts'
import { lastSequence } from './last-sequence.ts'
import { parsedBody } from './parsed-body.ts'
import type { RouteOptions } from './route-options.ts'
import { presignBody } from './schemas/object.ts'
import { pageSize } from './schemas/parameters.ts'

/** Follow what happens on a drive, and make URLs for its objects. */
export const driveEventRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.get(
    '/v1/drives/:name/events',
    { config: { access: 'key' }, exposeHeadRoute: false, schema: OBJECT_SCHEMAS.events },
    async (request, reply: FastifyReply) => {
      const { project, params, query, headers } = request
      const name = { project, name: params.name }
      const type = chooseMediaType(headers.accept, ['application/json', 'text/event-stream'])
      void reply.header('vary', 'accept')
      const after = lastSequence(request) ?? query.after ?? 0
      const page = await listDriveEvents(deps, name, { after, limit: pageSize(query.limit) })
      if (type === 'application/json') return page
      const writer = app.openStreams.open(reply, SSE_HEADERS)
      await sendEvents(writer, asMessages(streamDriveEvents(deps, name, { after, signal: writer.signal })), breakageReport(request))
      return reply
    },
  )

  app.post(
    '/v1/drives/:name/presign',
    { config: { access: 'key' }, schema: OBJECT_SCHEMAS.presign },
    async ({ project, params, body }, reply: FastifyReply) => {
      const { path, method, expiresInSeconds = 900 } = parsedBody(body, (given) => parseBody(presignBody, given))
      return presignObject(deps, { project, name: params.name }, { path, method, expiresInSeconds, signal: disconnectSignal(reply) })
    },
  )
}

async function* asMessages(events: AsyncIterable<DriveEvent>): AsyncGenerator<readonly ServerSentEvent[]> {
  for await (const event of events) yield [{ id: event.sequence, data: event }]
}
