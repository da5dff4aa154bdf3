import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { parseBody } from '../domain/parse-body.ts'
import { entityTag, requireMatch } from '../plugins/entity-tag.ts'
import { changeSecret, createSecret, deleteSecret, getSecret, listSecrets, type SecretView } from '../services/secrets/secrets.ts'
import { parsedBody } from './parsed-body.ts'
import type { RouteOptions } from './route-options.ts'
import { ifMatchHeaders } from './schemas/headers.ts'
import { noQuery, pageQuery, pageSize } from './schemas/parameters.ts'
import { HEADERS, json, responses } from './schemas/responses.ts'
import { newSecret, secret, secretChange, secretPage, secretParams } from './schemas/secret.ts'

/** Store, list, change and delete secrets; what they hold goes in and never out. */
export const secretRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.post('/v1/secrets', { config: { access: 'key' }, schema: CREATE }, async ({ project, body }, reply) => {
    const made = await createSecret(deps, { project, ...parsedBody(body, (given) => parseBody(newSecret, given)) })
    return tagged(reply, made).code(201).header('location', `/v1/secrets/${made.name}`).send(made)
  })

  app.get('/v1/secrets', { config: { access: 'key' }, schema: LIST }, ({ project, query: { limit, cursor } }) =>
    listSecrets(deps, { project, limit: pageSize(limit), cursor }),
  )

  app.get('/v1/secrets/:name', { config: { access: 'key' }, schema: GET }, async ({ project, params }, reply) => {
    const found = await getSecret(deps, { project, name: params.name })
    return tagged(reply, found).send(found)
  })

  app.put('/v1/secrets/:name', { config: { access: 'key' }, schema: REPLACE }, async ({ project, params, body, headers }, reply) => {
    const { value } = parsedBody(body, (given) => parseBody(secretChange, given))
    const from = await getSecret(deps, { project, name: params.name })
    requireMatch(headers['if-match'], tagOf(from))
    const changed = await changeSecret(deps, { project, name: params.name, value, from })
    return tagged(reply, changed).send(changed)
  })

  app.delete('/v1/secrets/:name', { config: { access: 'key' }, schema: REMOVE }, async ({ project, params }, reply) => {
    await getSecret(deps, { project, name: params.name })
    await deleteSecret(deps, { project, name: params.name })
    return reply.code(204).send()
  })
}

const tagOf = ({ name, version }: SecretView): string => entityTag(name, version)
const tagged = (reply: FastifyReply, view: SecretView): FastifyReply => reply.header('etag', tagOf(view))

const tags = ['secrets']
const ETag = HEADERS.etag

const CREATE = {
  operationId: 'createSecret',
  tags,
  summary: 'Store a secret',
  description: 'Sealed at once (AES-256-GCM); what it holds is never shown again, only used, such as by a drive that names it.',
  querystring: noQuery,
  body: newSecret,
  response: responses({ 201: json('The secret is stored.', secret, { Location: HEADERS.location, ETag }) }),
}

const LIST = {
  operationId: 'listSecrets',
  tags,
  summary: 'List secrets',
  description: 'Their names, page by page.',
  querystring: pageQuery,
  response: responses({ 200: json('A page of secrets.', secretPage) }),
}

const GET = {
  operationId: 'getSecret',
  tags,
  summary: 'Read a secret',
  description: 'Its name, version and times; not what it holds.',
  params: secretParams,
  querystring: noQuery,
  response: responses({ 200: json('The secret.', secret, { ETag }) }),
}

const REPLACE = {
  operationId: 'replaceSecret',
  tags,
  summary: 'Change a secret',
  description: 'What is opened from now on is the new value. Needs `If-Match`.',
  params: secretParams,
  querystring: noQuery,
  headers: ifMatchHeaders,
  body: secretChange,
  response: responses({ 200: json('The secret with its next version.', secret, { ETag }) }),
}

const REMOVE = {
  operationId: 'deleteSecret',
  tags,
  summary: 'Delete a secret',
  description: 'Refused while drives name it.',
  params: secretParams,
  querystring: noQuery,
  response: responses({ 204: { description: 'It is gone.' } }),
}
