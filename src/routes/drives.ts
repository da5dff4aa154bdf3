import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { parseDriveChange, parseNewDrive } from '../domain/drives/parse-drive.ts'
import { entityTag, isUnchanged, requireMatch } from '../plugins/entity-tag.ts'
import type { DriveView } from '../services/drives/drive-view.ts'
import { changeDrive, createDrive, getDrive, listDrives } from '../services/drives/drives.ts'
import { deleteDrive } from '../services/drives/delete-drive.ts'
import { DRIVE_SCHEMAS } from './drive-schemas.ts'
import { parsedBody } from './parsed-body.ts'
import type { RouteOptions } from './route-options.ts'
import { labelsOf, pageSize } from './schemas/parameters.ts'

/** Register, read, change and delete drives. */
export const driveRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.post('/v1/drives', { config: { access: 'key' }, schema: DRIVE_SCHEMAS.create }, async ({ project, body }, reply) => {
    const drive = await createDrive(deps, project, parsedBody(body, parseNewDrive))
    return tagged(reply, drive).code(201).header('location', `/v1/drives/${drive.name}`).send(drive)
  })

  app.get('/v1/drives', { config: { access: 'key' }, schema: DRIVE_SCHEMAS.list }, ({ project, query: { kind, label, limit, cursor } }) => {
    const labels = labelsOf(label)
    return listDrives(deps, { project, filters: { ...(kind && { kind }), ...(labels && { labels }) }, limit: pageSize(limit), cursor })
  })

  app.get('/v1/drives/:name', { config: { access: 'key' }, schema: DRIVE_SCHEMAS.get }, async ({ project, params, headers }, reply) => {
    const drive = await getDrive(deps, { project, name: params.name })
    void tagged(reply, drive)
    if (isUnchanged(headers['if-none-match'], tagOf(drive))) return reply.code(304).send()
    return drive
  })

  app.put('/v1/drives/:name', { config: { access: 'key' }, schema: DRIVE_SCHEMAS.replace }, async (request, reply) => {
    const { project, params, body, headers } = request
    const drive = parsedBody(body, (given) => parseDriveChange(given, params.name))
    const from = await getDrive(deps, { project, name: params.name })
    requireMatch(headers['if-match'], tagOf(from))
    const changed = await changeDrive(deps, { drive, from })
    return tagged(reply, changed).send(changed)
  })

  app.delete(
    '/v1/drives/:name',
    { config: { access: 'key' }, schema: DRIVE_SCHEMAS.remove },
    async ({ project, params, query, headers }, reply) => {
      const from = await getDrive(deps, { project, name: params.name })
      requireMatch(headers['if-match'], tagOf(from))
      await deleteDrive(deps, project, { from, withObjects: query.objects === 'delete' })
      return reply.code(204).send()
    },
  )
}

const tagOf = ({ name, version }: DriveView): string => entityTag(name, version)
const tagged = (reply: FastifyReply, drive: DriveView): FastifyReply => reply.header('etag', tagOf(drive))
