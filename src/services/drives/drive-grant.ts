import { createHmac, timingSafeEqual } from 'node:crypto'
import type { DriveAccess } from '../../domain/drives/drive.ts'
import { expandMacros } from '../../domain/macros.ts'
import type { Resolution } from '../../domain/mount-plan.ts'
import type { ServiceDeps } from '../service-deps.ts'

/** What the token of one mount of one attempt lets its holder do. */
export interface DriveGrant {
  readonly project: string
  readonly drive: string
  /** The most, whatever the drive allows. */
  readonly access: DriveAccess
  /** Directory of the drive, without a slash at its end; empty for all of it. */
  readonly prefix: string
  /** Who writes, on a drive that belongs to its producers. */
  readonly producer: string
}

const WORD = 'berth_job'

/**
 * A token for the mount at this place of the attempt's resolutions. It holds nothing that must be kept: the attempt itself
 * says what it is good for, and that it is over when the attempt has ended.
 */
export function grantToken(key: string, attemptId: string, place: number): string {
  return `${WORD}.${attemptId}.${place}.${macOf(key, attemptId, place)}`
}

/** What a token is good for now; null for one that is none, or whose attempt has ended. */
export async function findGrant(deps: ServiceDeps, token: string): Promise<DriveGrant | null> {
  const [, attemptId, number, mac] = /^berth_job\.(att_[a-z0-9]{26})\.(\d{1,4})\.([\w-]{43})$/.exec(token) ?? []
  if (attemptId === undefined || mac === undefined) return null
  const place = Number(number)
  if (!timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(deps.jobTokenKey, attemptId, place)))) return null
  const { rows } = await deps.pool.query<Holder>({ name: 'token_holder', text: HOLDER, values: [attemptId] })
  const resolution = rows[0]?.resolutions[place]
  if (rows[0] === undefined || resolution === undefined || resolution.plan.via !== 'reference') return null
  return grantOf(rows[0], resolution)
}

const HOLDER = `
SELECT job.project_id AS project, job.id AS "jobId", attempt.number, attempt.resolutions
FROM attempt JOIN job ON job.id = attempt.job_id
WHERE attempt.id = $1 AND attempt.outcome IS NULL AND attempt.ended_at IS NULL`

interface Holder {
  readonly project: string
  readonly jobId: string
  readonly number: number
  readonly resolutions: readonly Resolution[]
}

function grantOf({ project, jobId, number }: Holder, { role, drive, access, plan }: Resolution): DriveGrant | null {
  if (plan.via !== 'reference' || drive?.name == null) return null
  const prefix = expandMacros(plan.prefix, { job_id: jobId, attempt: number, role, replica: 0, pathOf: () => null })
  return { project, drive: drive.name, access, prefix, producer: jobId }
}

const macOf = (key: string, attemptId: string, place: number): string =>
  createHmac('sha256', key).update(`${attemptId}.${place}`).digest('base64url')
