import { Problem } from '../../domain/problem.ts'
import type { DriveName } from '../drives/find-drive.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { checkedKey } from './object-place.ts'
import { openObjects } from './open-objects.ts'
import { withStoreProblems } from './store-problem.ts'

export interface Presigning {
  readonly path: string
  readonly method: 'GET' | 'PUT'
  readonly expiresInSeconds: number
  readonly signal: AbortSignal
}

/** @throws Problem `operation_unsupported` where the storage has no such URLs, `access_denied` */
export async function presignObject(deps: ServiceDeps, name: DriveName, { path, method, expiresInSeconds, signal }: Presigning) {
  const { drive, store } = await openObjects(deps, name, method === 'GET' ? 'read' : 'change', signal)
  const url = await withStoreProblems(() => store.presign(checkedKey(path), { method, expiresInSeconds }))
  if (url === null)
    throw new Problem(
      'operation_unsupported',
      `The storage of \`${drive.name}\` has no URLs of its own for ${method}: use the object's address here.`,
    )
  return { url, method, expiresAt: new Date(Date.now() + expiresInSeconds * 1000).toISOString() }
}
