import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { entityTag } from '../plugins/entity-tag.ts'
import { getDefinitionVersion, listVersions } from '../services/definitions/definitions.ts'
import { DEFINITION_SCHEMAS } from './job-definition-schemas.ts'
import type { RouteOptions } from './route-options.ts'
import { pageSize } from './schemas/parameters.ts'

/** Read the versions of job definitions. */
export const jobDefinitionVersionRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.get(
    '/v1/job-definitions/:name/versions',
    { config: { access: 'key' }, schema: DEFINITION_SCHEMAS.listVersions },
    ({ project, params: { name }, query: { limit, cursor } }) => listVersions(deps, { project, name, limit: pageSize(limit), cursor }),
  )

  app.get(
    '/v1/job-definitions/:name/versions/:version',
    { config: { access: 'key' }, schema: DEFINITION_SCHEMAS.getVersion },
    async ({ project, params: { name, version } }, reply) => {
      const found = await getDefinitionVersion(deps, { project, name, version })
      void reply.header('etag', entityTag(found.name, found.version))
      return found
    },
  )
}
