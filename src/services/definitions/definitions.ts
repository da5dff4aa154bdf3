import { sql } from 'kysely'
import type { JobBody } from '../../domain/job-body.ts'
import type { Page } from '../../domain/job-view.ts'
import { Problem } from '../../domain/problem.ts'
import { pageAfter, readCursor } from '../jobs/keyset-cursor.ts'
import type { ServiceDeps } from '../service-deps.ts'

/** A job definition as the API shows it, without the body of its newest version. Times are RFC 3339 UTC. */
export interface DefinitionSummary {
  readonly name: string
  /** The newest. */
  readonly version: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly retiredAt: string | null
}

export interface DefinitionView extends DefinitionSummary {
  readonly job: JobBody
}

export interface DefinitionVersionView {
  readonly name: string
  readonly version: number
  readonly job: JobBody
  readonly createdAt: string
}

interface Named {
  readonly project: string
  readonly name: string
}

interface Paging {
  readonly limit: number
  readonly cursor: string | undefined
}

const SUMMARY_COLUMNS = ['name', 'version', 'created_at', 'updated_at', 'retired_at'] as const
const VERSION_COLUMNS = ['name', 'version', 'job', 'created_at'] as const

/** Makes a definition with its version 1. @throws Problem `already_exists`, for a retired one too. */
export async function createDefinition(deps: ServiceDeps, { project, name, job }: Named & { job: JobBody }): Promise<DefinitionView> {
  const made = await deps.db
    .with('made', (db) =>
      db
        .insertInto('job_definition')
        .values({ project_id: project, name, version: 1 })
        .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
        .returning(['project_id', 'name', 'version']),
    )
    .insertInto('job_definition_version')
    .columns(['project_id', 'name', 'version', 'job'])
    .expression((from) => from.selectFrom('made').select(['project_id', 'name', 'version', sql`${JSON.stringify(job)}::jsonb`.as('job')]))
    .returning('version')
    .executeTakeFirst()
  if (!made) throw new Problem('already_exists', `There is a job definition \`${name}\` already. Make a new version of it by PUT.`)
  return getDefinition(deps, { project, name })
}

/** The newest version, retired or not. @throws Problem `not_found` */
export async function getDefinition(deps: ServiceDeps, { project, name }: Named): Promise<DefinitionView> {
  const row = await deps.db
    .selectFrom('job_definition as d')
    .innerJoin('job_definition_version as v', (join) =>
      join.onRef('v.project_id', '=', 'd.project_id').onRef('v.name', '=', 'd.name').onRef('v.version', '=', 'd.version'),
    )
    .select(['d.name', 'd.version', 'd.created_at', 'd.updated_at', 'd.retired_at', 'v.job'])
    .where('d.project_id', '=', project)
    .where('d.name', '=', name)
    .executeTakeFirst()
  if (!row) throw unknownDefinition(name)
  return { ...summaryOf(row), job: row.job as JobBody }
}

/** One version, of a retired definition too. @throws Problem `not_found` */
export async function getDefinitionVersion(
  deps: ServiceDeps,
  { project, name, version }: Named & { version: number },
): Promise<DefinitionVersionView> {
  const row = await deps.db
    .selectFrom('job_definition_version')
    .select(VERSION_COLUMNS)
    .where('project_id', '=', project)
    .where('name', '=', name)
    .where('version', '=', version)
    .executeTakeFirst()
  if (row) return versionOf(row)
  const { version: newest } = await getDefinition(deps, { project, name })
  throw new Problem('not_found', `Job definition \`${name}\` has the versions 1 to ${newest}, not ${version}.`)
}

/**
 * The version that a submission means: the one it names, else the newest.
 *
 * @throws Problem `not_found`, or `definition_retired`
 */
export async function resolveDefinition(
  deps: ServiceDeps,
  { project, name, version }: Named & { version: number | undefined },
): Promise<{ name: string; version: number; job: JobBody }> {
  const newest = await getDefinition(deps, { project, name })
  if (newest.retiredAt !== null) throw new Problem('definition_retired', `Job definition \`${name}\` was retired at ${newest.retiredAt}.`)
  if (version === undefined || version === newest.version) return newest
  return getDefinitionVersion(deps, { project, name, version })
}

/** Definitions that are not retired, by name. @throws Problem `malformed_request` for a cursor of another list */
export async function listDefinitions(
  deps: ServiceDeps,
  { project, limit, cursor }: Paging & { project: string },
): Promise<Page<DefinitionSummary>> {
  const list = { list: 'definitions', project }
  const after = readCursor(cursor, list)
  let query = deps.db.selectFrom('job_definition').select(SUMMARY_COLUMNS).where('project_id', '=', project).where('retired_at', 'is', null)
  if (after !== null) query = query.where('name', '>', after)
  const rows = await query
    .orderBy('name')
    .limit(limit + 1)
    .execute()
  const items = rows.slice(0, limit).map(summaryOf)
  return { items, nextCursor: rows.length > limit ? pageAfter(items.at(-1)?.name, list) : null }
}

/** All versions, the newest first. @throws Problem `not_found`, or `malformed_request` for a cursor of another list */
export async function listVersions(
  deps: ServiceDeps,
  { project, name, limit, cursor }: Named & Paging,
): Promise<Page<DefinitionVersionView>> {
  const list = { list: 'versions', project, name }
  const before = readCursor(cursor, list)
  let query = deps.db
    .selectFrom('job_definition_version')
    .select(VERSION_COLUMNS)
    .where('project_id', '=', project)
    .where('name', '=', name)
  if (before !== null) query = query.where('version', '<', Number(before))
  const rows = await query
    .orderBy('version', 'desc')
    .limit(limit + 1)
    .execute()
  if (rows.length === 0) await getDefinition(deps, { project, name })
  const items = rows.slice(0, limit).map(versionOf)
  return { items, nextCursor: rows.length > limit ? pageAfter(items.at(-1)?.version.toString(), list) : null }
}

/**
 * Adds the next version, which brings a retired definition back.
 *
 * @throws Problem `precondition_failed` if it is not at `from` any longer
 */
export async function addVersion(
  deps: ServiceDeps,
  { project, name, job, from }: Named & { job: JobBody; from: DefinitionSummary },
): Promise<DefinitionView> {
  const added = await deps.db
    .with('moved', (db) =>
      db
        .updateTable('job_definition')
        .set({ version: from.version + 1, retired_at: null, updated_at: sql`now()` })
        .where('project_id', '=', project)
        .where('name', '=', name)
        .where('version', '=', from.version)
        .where('retired_at', from.retiredAt === null ? 'is' : 'is not', null)
        .returning(['project_id', 'name', 'version']),
    )
    .insertInto('job_definition_version')
    .columns(['project_id', 'name', 'version', 'job'])
    .expression((db) => db.selectFrom('moved').select(['project_id', 'name', 'version', sql`${JSON.stringify(job)}::jsonb`.as('job')]))
    .returning('version')
    .executeTakeFirst()
  if (!added) throw changedMeanwhile()
  return getDefinition(deps, { project, name })
}

/** Retires a definition; once more is fine. @throws Problem `precondition_failed` if it is not at `from` any longer */
export async function retireDefinition(deps: ServiceDeps, { project, name, from }: Named & { from: DefinitionSummary }): Promise<void> {
  const { numUpdatedRows } = await deps.db
    .updateTable('job_definition')
    .set({ retired_at: sql`coalesce(retired_at, now())` })
    .where('project_id', '=', project)
    .where('name', '=', name)
    .where('version', '=', from.version)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw changedMeanwhile()
}

interface SummaryRow {
  readonly name: string
  readonly version: number
  readonly created_at: Date
  readonly updated_at: Date
  readonly retired_at: Date | null
}

const summaryOf = (row: SummaryRow): DefinitionSummary => ({
  name: row.name,
  version: row.version,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
  retiredAt: row.retired_at?.toISOString() ?? null,
})

const versionOf = (row: { name: string; version: number; job: unknown; created_at: Date }): DefinitionVersionView => ({
  name: row.name,
  version: row.version,
  job: row.job as JobBody,
  createdAt: row.created_at.toISOString(),
})

const unknownDefinition = (name: string): Problem => new Problem('not_found', `There is no job definition \`${name}\`.`)
const changedMeanwhile = (): Problem => new Problem('precondition_failed', 'Somebody changed it meanwhile. Read it again, and change that.')
