import { sql } from 'kysely'
import type { JobState } from '../../domain/job-state.ts'
import type { JobSummary, Page } from '../../domain/job-view.ts'
import { pageAfter, readCursor } from './keyset-cursor.ts'
import { summaryOf, type JobRow } from './job-row.ts'
import type { ServiceDeps } from '../service-deps.ts'

export interface ListJobs {
  readonly project: string
  readonly filters: {
    readonly state?: readonly JobState[] | undefined
    readonly scheduler?: string | undefined
    /** All of them must match. */
    readonly labels?: Readonly<Record<string, string>> | undefined
    readonly name?: string | undefined
  }
  readonly limit: number
  readonly cursor: string | undefined
}

const COLUMNS = [
  'id',
  'name',
  'scheduler',
  'state',
  'reason',
  'detail',
  'since',
  'labels',
  'created_at',
  'started_at',
  'ended_at',
] as const

/** Newest first: ids sort by the time of their making. @throws Problem `malformed_request` for a cursor of another list */
export async function listJobs(deps: ServiceDeps, { project, filters, limit, cursor }: ListJobs): Promise<Page<JobSummary>> {
  const before = readCursor(cursor, { project, ...filters })
  let query = deps.db.selectFrom('job').select(COLUMNS).where('project_id', '=', project)
  if (before !== null) query = query.where('id', '<', before)
  if (filters.state) query = query.where('state', 'in', [...filters.state])
  if (filters.scheduler !== undefined) query = query.where('scheduler', '=', filters.scheduler)
  if (filters.name !== undefined) query = query.where('name', '=', filters.name)
  if (filters.labels) query = query.where(sql<boolean>`labels @> ${JSON.stringify(filters.labels)}::jsonb AND labels <> '{}'`)
  const rows = await query.orderBy('id', 'desc').limit(limit + 1).execute()
  const items = rows.slice(0, limit).map((row) => summaryOf(row as unknown as JobRow))
  return { items, nextCursor: rows.length > limit ? pageAfter(items.at(-1)?.id, { project, ...filters }) : null }
}
