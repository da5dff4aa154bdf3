import { newId } from '../../domain/id.ts'
import type { Page } from '../../domain/job-view.ts'
import { Problem } from '../../domain/problem.ts'
import type { SecretValue } from '../../domain/secret-body.ts'
import { pageAfter, readCursor } from '../jobs/keyset-cursor.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { seal } from './envelope.ts'
import { contextOf } from './secret-context.ts'

/** A secret as the API shows it: never what it holds. Times are RFC 3339 UTC. */
export interface SecretView {
  readonly name: string
  readonly version: number
  readonly createdAt: string
  readonly updatedAt: string
}

interface Named {
  readonly project: string
  readonly name: string
}

const COLUMNS = ['name', 'version', 'created_at', 'updated_at'] as const

/** Stores a value under a name, as version 1. @throws Problem `already_exists` */
export async function createSecret(deps: ServiceDeps, { project, name, value }: Named & { value: SecretValue }): Promise<SecretView> {
  const id = newId('sec')
  const row = await deps.db
    .insertInto('secret')
    .values({ id, project_id: project, name, version: 1, ...sealedColumns(deps, id, { version: 1, value }) })
    .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!row) throw new Problem('already_exists', `There is a secret \`${name}\` already. Change it by PUT.`)
  return viewOf(row)
}

/** @throws Problem `not_found` */
export async function getSecret(deps: ServiceDeps, { project, name }: Named): Promise<SecretView> {
  const row = await deps.db
    .selectFrom('secret')
    .select(COLUMNS)
    .where('project_id', '=', project)
    .where('name', '=', name)
    .executeTakeFirst()
  if (!row) throw new Problem('not_found', `There is no secret \`${name}\`.`)
  return viewOf(row)
}

/** By name. @throws Problem `malformed_request` for a cursor of another list */
export async function listSecrets(
  deps: ServiceDeps,
  { project, limit, cursor }: { project: string; limit: number; cursor: string | undefined },
): Promise<Page<SecretView>> {
  const list = { list: 'secrets', project }
  const after = readCursor(cursor, list)
  let query = deps.db.selectFrom('secret').select(COLUMNS).where('project_id', '=', project)
  if (after !== null) query = query.where('name', '>', after)
  const rows = await query
    .orderBy('name')
    .limit(limit + 1)
    .execute()
  const items = rows.slice(0, limit).map(viewOf)
  return { items, nextCursor: rows.length > limit ? pageAfter(items.at(-1)?.name, list) : null }
}

/** The next version. @param from the version that the client has seen @throws Problem `precondition_failed`, `not_found` */
export async function changeSecret(
  deps: ServiceDeps,
  { project, name, value, from }: Named & { value: SecretValue; from: SecretView },
): Promise<SecretView> {
  const current = await deps.db
    .selectFrom('secret')
    .select('id')
    .where('project_id', '=', project)
    .where('name', '=', name)
    .executeTakeFirst()
  if (!current) throw new Problem('not_found', `There is no secret \`${name}\`.`)
  const version = from.version + 1
  const row = await deps.db
    .updateTable('secret')
    .set({ version, updated_at: new Date(), ...sealedColumns(deps, current.id, { version, value }) })
    .where('id', '=', current.id)
    .where('version', '=', from.version)
    .returning(COLUMNS)
    .executeTakeFirst()
  if (!row) throw new Problem('precondition_failed', `The secret \`${name}\` has changed since you read it.`)
  return viewOf(row)
}

/** @throws Problem `secret_in_use` with the drives that name it */
export async function deleteSecret(deps: ServiceDeps, { project, name }: Named): Promise<void> {
  const { rows } = await deps.pool.query<{ drives: string[] }>(
    `WITH users AS (SELECT name FROM drive WHERE project_id = $1 AND credentials->>'secret' = $2),
     gone AS (DELETE FROM secret WHERE project_id = $1 AND name = $2 AND NOT EXISTS (SELECT FROM users))
     SELECT coalesce(array_agg(name ORDER BY name), '{}') AS drives FROM users`,
    [project, name],
  )
  const drives = rows[0]?.drives ?? []
  if (drives.length > 0)
    throw new Problem('secret_in_use', `These drives name the secret \`${name}\`: ${drives.join(', ')}. Change them first.`)
}

function sealedColumns(deps: ServiceDeps, id: string, { version, value }: { version: number; value: SecretValue }) {
  if (deps.keyRing.length === 0) throw new Problem('unavailable', 'Secrets cannot be stored: the operator has given no BERTH_SECRET_KEYS.')
  const { keyId, sealedKey, sealed } = seal(deps.keyRing, JSON.stringify(value), contextOf(id, version))
  return { key_id: keyId, sealed_key: sealedKey, sealed }
}

const viewOf = (row: { name: string; version: number; created_at: Date; updated_at: Date }): SecretView => ({
  name: row.name,
  version: row.version,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})
