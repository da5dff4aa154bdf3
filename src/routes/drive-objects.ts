import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { Problem } from '../domain/problem.ts'
import { readRange } from '../plugins/byte-range.ts'
import { digestHeader, readDigest } from '../plugins/content-digest.ts'
import { disconnectSignal } from '../plugins/disconnect-signal.ts'
import { isUnchanged } from '../plugins/entity-tag.ts'
import { takeRawBodies } from '../plugins/raw-body.ts'
import { deleteObject } from '../services/objects/delete-object.ts'
import { getObject, type FoundObject } from '../services/objects/get-object.ts'
import { listObjects } from '../services/objects/list-objects.ts'
import { putObject, type NewObject } from '../services/objects/put-object.ts'
import { driveOf } from './drive-of.ts'
import { OBJECT_SCHEMAS } from './drive-object-schemas.ts'
import type { RouteOptions } from './route-options.ts'
import { pageSize } from './schemas/parameters.ts'

/** Put, get, list and delete the objects of drives. */
export const driveObjectRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, options) => {
  takeRawBodies(app)
  for (const route of [put, remove, get, head, list]) await route(app, options)
}

const put: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.put(
    '/v1/drives/:name/objects/*',
    { config: { access: 'key', reach: 'path', longBody: true }, schema: OBJECT_SCHEMAS.put },
    async (request, reply: FastifyReply) => {
      const { params, query, headers, body, raw, grant } = request
      const { object, created } = await putObject(deps, driveOf(request), {
        path: params['*'],
        component: query.component ?? grant?.producer,
        body: (body as Readable | undefined) ?? raw,
        contentType: headers['content-type'],
        sha256: readDigest(headers as Record<string, string | undefined>),
        condition: conditionOf(headers),
        size: headers['content-length'] === undefined ? undefined : Number(headers['content-length']),
        signal: disconnectSignal(reply),
      })
      const location = `/v1/drives/${params.name}/objects/${params['*'].split('/').map(encodeURIComponent).join('/')}`
      return reply
        .code(created ? 201 : 200)
        .header('etag', object.etag)
        .header('location', location)
        .send(object)
    },
  )
}

const remove: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.delete(
    '/v1/drives/:name/objects/*',
    { config: { access: 'key', reach: 'path' }, schema: OBJECT_SCHEMAS.remove },
    async (request, reply: FastifyReply) => {
      const { params, query, headers, grant } = request
      await deleteObject(deps, driveOf(request), {
        path: params['*'].replace(/\/$/, ''),
        component: query.component ?? grant?.producer,
        recursive: query.recursive ?? false,
        missingOk: query.missing === 'ok',
        ifMatch: headers['if-match'],
        signal: disconnectSignal(reply),
      })
      return reply.code(204).send()
    },
  )
}

const get: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.get(
    '/v1/drives/:name/objects/*',
    { config: { access: 'key', reach: 'path' }, exposeHeadRoute: false, schema: OBJECT_SCHEMAS.get },
    async (request, reply: FastifyReply) => {
      const { params, query, headers } = request
      const wanted = { path: params['*'], component: query.component, waitSeconds: query.wait ?? 0, signal: disconnectSignal(reply) }
      const found = await getObject(deps, driveOf(request), wanted)
      describe(reply, found)
      if (isUnchanged(headers['if-none-match'], found.object.etag)) return reply.code(304).send()
      const range = satisfiable(reply, headers.range, found)
      if (range === null) return reply.header('content-length', found.object.size).send(await found.read(null))
      const { start, end } = range
      void reply
        .code(206)
        .header('content-range', `bytes ${start}-${end}/${found.object.size}`)
        .header('content-length', end - start + 1)
      return reply.send(await found.read(range))
    },
  )
}

const head: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.head(
    '/v1/drives/:name/objects/*',
    { config: { access: 'key', reach: 'path' }, schema: OBJECT_SCHEMAS.head },
    async (request, reply: FastifyReply) => {
      const { params, query, headers } = request
      const wanted = { path: params['*'], component: query.component, waitSeconds: query.wait ?? 0, signal: disconnectSignal(reply) }
      const found = await getObject(deps, driveOf(request), wanted)
      describe(reply, found)
      if (isUnchanged(headers['if-none-match'], found.object.etag)) return reply.code(304).send()
      return reply.header('content-length', found.object.size).send()
    },
  )
}

const list: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.get(
    '/v1/drives/:name/objects',
    { config: { access: 'key', reach: 'prefix' }, schema: OBJECT_SCHEMAS.list },
    (request, reply: FastifyReply) => {
      const { query } = request
      return listObjects(deps, driveOf(request), {
        prefix: query.prefix ?? '',
        recursive: query.recursive ?? query.delimiter === undefined,
        component: query.component,
        limit: pageSize(query.limit),
        cursor: query.cursor,
        signal: disconnectSignal(reply),
      })
    },
  )
}

/** What a browser that is led here must not do with it: run it as a page of ours. */
function describe(reply: FastifyReply, { object }: FoundObject): void {
  void reply
    .header('etag', object.etag)
    .header('last-modified', new Date(object.modifiedAt).toUTCString())
    .header('accept-ranges', 'bytes')
    .header('content-type', object.contentType ?? 'application/octet-stream')
    .header('x-content-type-options', 'nosniff')
    .header('content-security-policy', 'sandbox')
  if (object.sha256 !== null) void reply.header('repr-digest', digestHeader(object.sha256))
}

function satisfiable(reply: FastifyReply, header: string | undefined, { object }: FoundObject) {
  try {
    return readRange(header, object.size)
  } catch (error) {
    void reply.header('content-range', `bytes */${object.size}`).removeHeader('content-security-policy')
    throw error
  }
}

/** @throws Problem `malformed_request` for conditions that no store can hold */
function conditionOf(headers: FastifyRequest['headers']): NewObject['condition'] {
  const { 'if-match': match, 'if-none-match': none } = headers
  if (none !== undefined && none.trim() !== '*') throw new Problem('malformed_request', 'If-None-Match of a put must be *.')
  if (match !== undefined && !/^"[^"]*"$/.test(match.trim()))
    throw new Problem('malformed_request', 'If-Match of a put must be one strong entity tag.')
  if (none !== undefined) return { kind: 'never' }
  return match === undefined ? undefined : { kind: 'match', etag: match.trim() }
}
