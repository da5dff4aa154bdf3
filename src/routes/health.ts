import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { Problem } from '../domain/problem.ts'
import { isReady } from '../services/readiness.ts'
import type { RouteOptions } from './route-options.ts'
import { json, responses } from './schemas/responses.ts'

/** Whether the process lives, and whether it can serve. Open to all, and silent about everything else. */
export const healthRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })

  app.get('/livez', { config: { access: 'open' }, logLevel: 'warn', schema: LIVE }, () => ({ status: 'ok' }))

  app.get('/readyz', { config: { access: 'open' }, logLevel: 'warn', schema: READY }, async () => {
    if (closing) throw new Problem('unavailable', 'Berth is shutting down.', { retryAfterSeconds: 5 })
    if (!(await isReady(deps))) throw new Problem('unavailable', 'The database does not answer.', { retryAfterSeconds: 2 })
    return { status: 'ok' }
  })
}

const status = z.object({ status: z.string().meta({ description: 'Always `ok`: otherwise the answer is a problem.' }) }).meta({
  id: 'Health',
  description: 'All is well.',
})

const LIVE = {
  operationId: 'getLiveness',
  tags: ['operation'],
  summary: 'Whether the process lives',
  description: 'Looks at nothing else: a supervisor may restart the process when it does not answer.',
  response: responses({ 200: json('It lives.', status) }),
}

const READY = {
  operationId: 'getReadiness',
  tags: ['operation'],
  summary: 'Whether requests can be served',
  description: 'Needs the database only: queue and schedulers may be away. 503 while it starts, shuts down, or has no database.',
  response: responses({ 200: json('It is ready.', status) }),
}
