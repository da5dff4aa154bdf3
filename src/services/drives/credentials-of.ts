import type { DriveSnapshot } from '../../domain/drives/drive.ts'
import { StoreError } from '../../stores/object-store.ts'
import type { StoreCredentials } from '../../stores/stores.ts'
import { openSecret } from '../secrets/open-secret.ts'
import type { ServiceDeps } from '../service-deps.ts'

/**
 * What opens a drive's bucket; null where nothing is needed. Opened anew at each use and never kept.
 *
 * @throws StoreError `access_denied`: the secret is gone, or the operator does not lend the worker's own
 */
export async function credentialsOf(
  deps: ServiceDeps,
  project: string,
  drive: DriveSnapshot,
): Promise<StoreCredentials | 'ambient' | null> {
  const { credentials } = drive
  if (credentials === null || credentials.method === 'none') return null
  if (credentials.method === 'ambient') {
    if (drive.name !== null && deps.ambientDrives.some((name) => name === '*' || name === drive.name)) return 'ambient'
    throw new StoreError('access_denied', "the operator does not lend the worker's own credentials to this drive (BERTH_AMBIENT_DRIVES)")
  }
  const secret = await openSecret(deps, { project, name: credentials.secret })
  if (secret === null) throw new StoreError('access_denied', `there is no secret ${credentials.secret}`)
  if (secret.type === 'opaque') throw new StoreError('access_denied', `the secret ${credentials.secret} holds no keys of a bucket`)
  return secret
}
