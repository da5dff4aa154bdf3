import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { LogRecord } from '../domain/job-view.ts'
import { breakageReport } from '../plugins/breakage-report.ts'
import { firstOf } from '../plugins/first-of.ts'
import { chooseMediaType } from '../plugins/media-type.ts'
import { pump } from '../plugins/pump.ts'
import { sendEvents, SSE_HEADERS } from '../plugins/server-sent-events.ts'
import type { StreamWriter } from '../plugins/stream-writer.ts'
import { readLogs } from '../services/logs/read-logs.ts'
import { jobId } from './job-id.ts'
import { inBatches, type LogLine, linesOf } from './log-lines.ts'
import type { RouteOptions } from './route-options.ts'
import { lastEventIdHeaders } from './schemas/headers.ts'
import { logLine } from './schemas/log-line.ts'
import { jobParams, logsQuery } from './schemas/parameters.ts'
import { responses } from './schemas/responses.ts'

const TEXT = 'text/plain'
const NDJSON = 'application/x-ndjson'
const SSE = 'text/event-stream'

/** Output of a job: the bytes themselves, or lines as NDJSON or as a stream of events. */
export const jobLogRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.get(
    '/v1/jobs/:id/logs',
    { config: { access: 'key' }, exposeHeadRoute: false, schema: LOGS },
    async (request, reply: FastifyReply) => {
      const { project, params, headers } = request
      const id = jobId(params.id)
      const type = chooseMediaType(headers.accept, [TEXT, NDJSON, SSE])
      const { since, follow, cursor, ...filter } = request.query
      const options = {
        ...filter,
        follow: follow ?? false,
        since: since === undefined ? undefined : new Date(since),
        cursor: resumeAt(request) ?? cursor,
      }
      const stop = new AbortController()
      const records = await firstOf(readLogs(deps, { project, id, options, signal: stop.signal }))
      void reply.header('vary', 'accept')
      const writer = app.openStreams.open(reply, HEADERS_OF[type])
      writer.signal.addEventListener('abort', () => stop.abort(), { once: true })
      // The client may have gone while the first record was waited for.
      if (writer.signal.aborted) stop.abort()
      await send(type, { writer, records, request })
      return reply
    },
  )
}

interface Sending {
  readonly writer: StreamWriter
  readonly records: AsyncIterator<LogRecord>
  readonly request: FastifyRequest
}

async function send(type: keyof typeof HEADERS_OF, { writer, records, request }: Sending): Promise<void> {
  const report = breakageReport(request)
  if (type === SSE) return sendEvents(writer, eventsOf(records), report)
  try {
    const ended =
      type === TEXT
        ? await pump(records, writer.signal, ({ bytes }) => writer.write(bytes))
        : await pump(inBatches(linesOf(records)), writer.signal, (lines) => writer.write(lines.map(ndjson).join('')))
    if (ended) writer.end()
    else writer.cut()
  } catch (error) {
    report(error)
    writer.cut()
  }
}

async function* eventsOf(records: AsyncIterator<LogRecord>) {
  for await (const lines of inBatches(linesOf(records)))
    yield lines.map((line) => ({ ...(line.cursor !== null && { id: line.cursor }), data: line }))
}

const ndjson = (line: LogLine): string => `${JSON.stringify(line)}\n`

/** Where an EventSource goes on by itself. */
function resumeAt({ headers }: FastifyRequest): string | undefined {
  const id = headers['last-event-id']
  return typeof id === 'string' && id !== '' ? id : undefined
}

const UNBUFFERED = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no', 'x-content-type-options': 'nosniff' }

const HEADERS_OF = {
  [TEXT]: { ...UNBUFFERED, 'content-type': 'text/plain; charset=utf-8' },
  [NDJSON]: { ...UNBUFFERED, 'content-type': NDJSON },
  [SSE]: SSE_HEADERS,
} as const

const LOGS = {
  operationId: 'readJobLogs',
  tags: ['jobs'],
  summary: 'Read or follow the output of a job',
  description:
    'The same address before the start, while it runs and after the end. `text/plain` gives the bytes as they were ' +
    'written; `application/x-ndjson` and `text/event-stream` give lines with where they come from. A connection ' +
    'that is cut, rather than ended, means that something is missing. Streamed events have the cursor of their line ' +
    'as id, so that a stream resumes by `Last-Event-ID`. Output that is no longer kept is 410 `output_removed`.',
  params: jobParams,
  querystring: logsQuery,
  headers: lastEventIdHeaders,
  response: responses({
    200: {
      description: 'Output.',
      content: { [TEXT]: { schema: z.string() }, [NDJSON]: { schema: logLine }, [SSE]: { schema: logLine } },
    },
  }),
}
