import type { SecretValue } from '../../domain/secret-body.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { open } from './envelope.ts'
import { contextOf } from './secret-context.ts'

/** What a secret holds, for the moment of its use; null if there is none. */
export async function openSecret(deps: ServiceDeps, { project, name }: { project: string; name: string }): Promise<SecretValue | null> {
  const row = await deps.db
    .selectFrom('secret')
    .select(['id', 'version', 'key_id', 'sealed_key', 'sealed'])
    .where('project_id', '=', project)
    .where('name', '=', name)
    .executeTakeFirst()
  if (!row) return null
  const sealed = { keyId: row.key_id, sealedKey: row.sealed_key, sealed: row.sealed }
  return JSON.parse(open(deps.keyRing, sealed, contextOf(row.id, row.version))) as SecretValue
}
