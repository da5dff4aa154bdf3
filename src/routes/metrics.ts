import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { responses } from './schemas/responses.ts'

/** What Prometheus reads. */
export const metricsRoutes: FastifyPluginAsyncZod = async (app) => {
  app.get('/metrics', { config: { access: 'key' }, logLevel: 'warn', exposeHeadRoute: false, schema: METRICS }, async (_request, reply) => {
    const { contentType, text } = await app.metrics.read()
    return reply.type(contentType).send(text)
  })
}

const METRICS = {
  operationId: 'getMetrics',
  tags: ['operation'],
  summary: 'Metrics',
  description: 'In the text format of Prometheus.',
  response: responses({ 200: { description: 'All metrics of this process.', content: { 'text/plain': { schema: z.string() } } } }),
}
