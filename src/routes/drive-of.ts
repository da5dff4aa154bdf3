import type { FastifyRequest } from 'fastify'
import type { DriveName } from '../services/drives/find-drive.ts'

/** The drive that a request names, and the most that whoever asks may do with it. */
export function driveOf({ project, params, grant }: Pick<FastifyRequest, 'project' | 'grant'> & { params: { name: string } }): DriveName {
  return { project, name: params.name, ...(grant !== null && { most: grant.access }) }
}
