import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import type { JobEvent } from '../domain/job-view.ts'
import { chooseMediaType } from '../plugins/media-type.ts'
import type { ServerSentEvent } from '../plugins/server-sent-events.ts'
import { sendEvents, SSE_HEADERS } from '../plugins/server-sent-events.ts'
import { breakageReport } from '../plugins/breakage-report.ts'
import { listEvents } from '../services/jobs/list-events.ts'
import { streamEvents } from '../services/jobs/stream-events.ts'
import { jobId } from './job-id.ts'
import { lastSequence } from './last-sequence.ts'
import type { RouteOptions } from './route-options.ts'
import { lastEventIdHeaders } from './schemas/headers.ts'
import { jobEvent, jobEvents } from './schemas/job-event.ts'
import { eventsQuery, jobParams, pageSize } from './schemas/parameters.ts'
import { responses } from './schemas/responses.ts'

/** Events of a job, as pages of JSON or as a stream. */
export const jobEventRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.get(
    '/v1/jobs/:id/events',
    { config: { access: 'key' }, exposeHeadRoute: false, schema: EVENTS },
    async (request, reply: FastifyReply) => {
      const { project, params, query, headers } = request
      const id = jobId(params.id)
      const type = chooseMediaType(headers.accept, ['application/json', 'text/event-stream'])
      void reply.header('vary', 'accept')
      const after = lastSequence(request) ?? query.after ?? 0
      if (type === 'application/json') return listEvents(deps, { project, id, after, limit: pageSize(query.limit) })

      const { items, last } = await listEvents(deps, { project, id, after, limit: 1 })
      // The one answer that keeps an EventSource from coming back for more.
      if (last && items.length === 0) return reply.code(204).send()
      const writer = app.openStreams.open(reply, SSE_HEADERS)
      const events = streamEvents(deps, { project, id, after, signal: writer.signal })
      await sendEvents(writer, asMessages(events), breakageReport(request))
      return reply
    },
  )
}

async function* asMessages(events: AsyncIterable<JobEvent>): AsyncGenerator<readonly ServerSentEvent[]> {
  for await (const event of events) yield [{ id: event.sequence, data: event }]
}

const EVENTS = {
  operationId: 'listJobEvents',
  tags: ['jobs'],
  summary: 'Read or follow the events of a job',
  description:
    'Every recorded change, in order. As JSON a page of them; as `text/event-stream` all of them and then each as ' +
    'it happens, until the final one. The id of each streamed event is its sequence number, so that a stream ' +
    'resumes by `Last-Event-ID`; a stream with nothing left to say answers 204. A stream that breaks says so in a ' +
    'last event named `problem`.',
  params: jobParams,
  querystring: eventsQuery,
  headers: lastEventIdHeaders,
  response: responses({
    200: {
      description: 'Events.',
      content: { 'application/json': { schema: jobEvents }, 'text/event-stream': { schema: jobEvent } },
    },
    204: { description: 'The job has ended, and there are no events after that one.' },
  }),
}
