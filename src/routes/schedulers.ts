import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { describeSchedulers } from '../services/schedulers/describe-schedulers.ts'
import type { RouteOptions } from './route-options.ts'
import { noQuery } from './schemas/parameters.ts'
import { json, responses } from './schemas/responses.ts'
import { schedulerList } from './schemas/scheduler.ts'

/** What places there are to run jobs. */
export const schedulerRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.get('/v1/schedulers', { config: { access: 'key' }, schema: LIST }, async () => ({ items: await describeSchedulers(deps) }))
}

const LIST = {
  operationId: 'listSchedulers',
  tags: ['schedulers'],
  summary: 'List schedulers',
  description: 'Every configured scheduler with its kind, what it can do, and whether it was well when a worker looked last.',
  querystring: noQuery,
  response: responses({ 200: json('All schedulers.', schedulerList) }),
}
