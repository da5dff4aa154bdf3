import type { FastifyReply } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { compatibilityOf } from '../domain/drives/compatibility.ts'
import { disconnectSignal } from '../plugins/disconnect-signal.ts'
import { checkDrive } from '../services/drives/check-drive.ts'
import { snapshotOf } from '../services/drives/drive-row.ts'
import { getDrive } from '../services/drives/drives.ts'
import { findDrive } from '../services/drives/find-drive.ts'
import { recountDrive } from '../services/objects/recount-drive.ts'
import { DRIVE_SCHEMAS } from './drive-schemas.ts'
import type { RouteOptions } from './route-options.ts'

/** See what a drive can be on each scheduler, whether it answers, and what it holds. */
export const driveTrialRoutes: FastifyPluginAsyncZod<RouteOptions> = async (app, { deps }) => {
  app.get(
    '/v1/drives/:name/compatibility',
    { config: { access: 'key' }, schema: DRIVE_SCHEMAS.compatibility },
    async ({ project, params }) => {
      const drive = snapshotOf(await findDrive(deps, { project, name: params.name }))
      const schedulers = [...deps.schedulers].map(([name, { kind, capabilities }]) => ({
        name,
        kind,
        modes: compatibilityOf(drive, { kind, capabilities }),
      }))
      return { drive: params.name, schedulers }
    },
  )

  app.post(
    '/v1/drives/:name/check',
    { config: { access: 'key' }, schema: DRIVE_SCHEMAS.check },
    async ({ project, params, query }, reply: FastifyReply) => {
      const signal = disconnectSignal(reply)
      const drive = await checkDrive(deps, { project, name: params.name, waitSeconds: query.wait ?? 0, signal })
      return reply.code(202).send(drive)
    },
  )

  app.post(
    '/v1/drives/:name/recount',
    { config: { access: 'key' }, schema: DRIVE_SCHEMAS.recount },
    async ({ project, params: { name } }, reply: FastifyReply) => {
      await recountDrive(deps, { project, name }, disconnectSignal(reply))
      return getDrive(deps, { project, name })
    },
  )
}
