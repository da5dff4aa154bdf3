import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { parseBody } from '../domain/parse-body.ts'
import { entityTag, isUnchanged, requireMatch } from '../plugins/entity-tag.ts'
import type { DefinitionSummary, DefinitionView } from '../services/definitions/definitions.ts'
import { addVersion, createDefinition, getDefinition, listDefinitions, retireDefinition } from '../services/definitions/definitions.ts'
import { DEFINITION_SCHEMAS } from './job-definition-schemas.ts'
import { parsedBody } from './parsed-body.ts'
import type { RouteOptions } from './route-options.ts'
import { newDefinitionVersion, newJobDefinition } from './schemas/job-definition.ts'
import { pageSize } from './schemas/parameters.ts'

/** Make, read, change and retire job definitions. */
export const jobDefinitionRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.post('/v1/job-definitions', { config: { access: 'key' }, schema: DEFINITION_SCHEMAS.create }, async ({ project, body }, reply) => {
    const { name, job } = parsedBody(body, (given) => parseBody(newJobDefinition, given))
    const definition = await createDefinition(deps, { project, name, job })
    return tagged(reply, definition).code(201).header('location', `/v1/job-definitions/${definition.name}`).send(definition)
  })

  app.get('/v1/job-definitions', { config: { access: 'key' }, schema: DEFINITION_SCHEMAS.list }, ({ project, query: { limit, cursor } }) =>
    listDefinitions(deps, { project, limit: pageSize(limit), cursor }),
  )

  app.get('/v1/job-definitions/:name', { config: { access: 'key' }, schema: DEFINITION_SCHEMAS.get }, async (request, reply) => {
    const definition = await getDefinition(deps, { project: request.project, name: request.params.name })
    void tagged(reply, definition)
    if (isUnchanged(request.headers['if-none-match'], tagOf(definition))) return reply.code(304).send()
    return definition
  })

  app.put('/v1/job-definitions/:name', { config: { access: 'key' }, schema: DEFINITION_SCHEMAS.replace }, async (request, reply) => {
    const { project, params, body, headers } = request
    const { job } = parsedBody(body, (given) => parseBody(newDefinitionVersion, given))
    const from = await getDefinition(deps, { project, name: params.name })
    requireMatch(headers['if-match'], tagOf(from))
    const definition = await addVersion(deps, { project, name: params.name, job, from })
    return tagged(reply, definition).send(definition)
  })

  app.delete('/v1/job-definitions/:name', { config: { access: 'key' }, schema: DEFINITION_SCHEMAS.retire }, async (request, reply) => {
    const { project, params, headers } = request
    const from = await getDefinition(deps, { project, name: params.name })
    requireMatch(headers['if-match'], tagOf(from))
    await retireDefinition(deps, { project, name: params.name, from })
    return reply.code(204).send()
  })
}

const tagged = (reply: FastifyReply, definition: DefinitionView): FastifyReply => reply.header('etag', tagOf(definition))

/** Retiring changes what is shown without a new version, and so the tag. */
const tagOf = ({ name, version, retiredAt }: DefinitionSummary): string => entityTag(retiredAt === null ? name : `${name}-retired`, version)
