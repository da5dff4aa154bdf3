import { readFileSync } from 'node:fs'
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions } from 'fastify'
import Fastify, { LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import { access } from './plugins/access.ts'
import { keepAddressBook } from './plugins/address-book.ts'
import { bodyDeadline } from './plugins/body-deadline.ts'
import { answerBrokenRequest } from './plugins/broken-request.ts'
import { jsonBody } from './plugins/json-body.ts'
import { metrics } from './plugins/metrics.ts'
import { openApiDocument } from './plugins/openapi-document.ts'
import { openStreams } from './plugins/open-streams.ts'
import { parameterCompiler } from './plugins/parameters.ts'
import { problemFromError } from './plugins/problem-from-error.ts'
import { problems, sendProblem } from './plugins/problems.ts'
import { requestId, requestIdOf } from './plugins/request-id.ts'
import { requestLog } from './plugins/request-log.ts'
import { driveArchiveRoutes } from './routes/drive-archives.ts'
import { driveEventRoutes } from './routes/drive-events.ts'
import { driveObjectRoutes } from './routes/drive-objects.ts'
import { driveTrialRoutes } from './routes/drive-trials.ts'
import { driveRoutes } from './routes/drives.ts'
import { healthRoutes } from './routes/health.ts'
import { jobDefinitionVersionRoutes } from './routes/job-definition-versions.ts'
import { jobDefinitionRoutes } from './routes/job-definitions.ts'
import { jobEventRoutes } from './routes/job-events.ts'
import { jobLogRoutes } from './routes/job-logs.ts'
import { jobRoutes } from './routes/jobs.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { schedulerRoutes } from './routes/schedulers.ts'
import { secretRoutes } from './routes/secrets.ts'
import { webhookDeliveryRoutes } from './routes/webhook-deliveries.ts'
import { webhookKeyRoutes } from './routes/webhook-keys.ts'
import { webhookMessages } from './routes/webhook-messages.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { findGrant } from './services/drives/drive-grant.ts'
import type { ServiceDeps } from './services/service-deps.ts'
import { webhookFigures } from './services/webhooks/webhook-figures.ts'

export interface AppDeps extends ServiceDeps {
  /** The key that every request but those of health and the document must bring. */
  readonly apiKey: string
}

/** Of this build; package.json lies beside src and dist alike. */
const { version: VERSION } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/**
 * Nothing may wait for a client for ever. Without these Fastify and Node have no such limit. A handler needs none of its
 * own: all that it waits for is the database, whose pool and statements have theirs (db/pool.ts).
 */
const LIMITS = {
  bodyLimit: 1024 * 1024,
  /** Bodies have deadlines of their own: see body-deadline. */
  requestTimeout: 0,
  /** Longer than the longest poll; streams switch it off for themselves. */
  connectionTimeout: 90_000,
  keepAliveTimeout: 72_000,
  forceCloseConnections: true,
} as const satisfies FastifyServerOptions

/** The HTTP side of Berth, ready to listen; it opens nothing by itself, and `close` ends every stream. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const app = Fastify({
    ...LIMITS,
    loggerInstance: deps.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => void sendProblem(problemFromError(error), request, reply),
    routerOptions: { maxParamLength: 255 },
  }).withTypeProvider<ZodTypeProvider>()
  app.setValidatorCompiler(parameterCompiler)
  // What the services give is typed by them; the tests hold it against the schemas.
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer))
  await app.register(problems, { addresses: keepAddressBook(app) })
  await app.register(requestId)
  await app.register(requestLog)
  await app.register(access, { apiKey: deps.apiKey, findGrant: (token) => findGrant(deps, token) })
  await app.register(jsonBody)
  await app.register(bodyDeadline)
  await app.register(openStreams)
  await app.register(metrics, { pool: deps.pool, webhooks: () => webhookFigures(deps) })
  await app.register(openApiDocument, { version: VERSION, webhooks: webhookMessages() })
  for (const routes of ROUTES) await app.register(routes, { deps })
  await app.register(metricsRoutes)
  await app.ready()
  return app as unknown as FastifyInstance
}

const ROUTES = [
  jobRoutes,
  jobEventRoutes,
  jobLogRoutes,
  jobDefinitionRoutes,
  jobDefinitionVersionRoutes,
  schedulerRoutes,
  driveRoutes,
  driveTrialRoutes,
  driveObjectRoutes,
  driveArchiveRoutes,
  driveEventRoutes,
  secretRoutes,
  webhookRoutes,
  webhookKeyRoutes,
  webhookDeliveryRoutes,
  healthRoutes,
] as const
