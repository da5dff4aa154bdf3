import { Problem } from '../../domain/problem.ts'
import { snapshotOf } from '../drives/drive-row.ts'
import type { DriveName } from '../drives/find-drive.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { objectsBelow } from './objects-below.ts'
import { openObjects } from './open-objects.ts'
import { seenWhole } from './seen-whole.ts'
import { withStoreProblems } from './store-problem.ts'

const MOST_COUNTS = 5

/**
 * Counts anew what a managed drive holds: its store is the truth, and jobs write behind the counters.
 *
 * @throws Problem `operation_unsupported` for other kinds, `unavailable` while others change it without a break
 */
export async function recountDrive(deps: ServiceDeps, name: DriveName, signal: AbortSignal): Promise<void> {
  const { drive, store } = await openObjects(deps, name, 'read', signal)
  if (drive.source.kind !== 'managed') throw new Problem('operation_unsupported', 'Only managed drives are counted.')
  for (let counts = 0; counts < MOST_COUNTS; counts += 1) {
    const { rows } = await deps.pool.query<{ seq: number }>('SELECT seq FROM drive WHERE id = $1', [drive.id])
    const place = { drive: snapshotOf(drive), store, signal }
    const { bytes, objects } = await withStoreProblems(() => seenWhole(deps, place, () => countOf(objectsBelow(store, '', signal))))
    // A change that came in between has counted itself already.
    const text = 'UPDATE drive SET used_bytes = $2, used_objects = $3 WHERE id = $1 AND seq = $4'
    if ((await deps.pool.query(text, [drive.id, bytes, objects, rows[0]?.seq])).rowCount === 1) return
  }
  throw new Problem('unavailable', `The drive \`${name.name}\` is being changed all the time: count it later.`, { retryAfterSeconds: 10 })
}

async function countOf(all: AsyncIterable<{ readonly size: number }>): Promise<{ bytes: number; objects: number }> {
  let bytes = 0
  let objects = 0
  for await (const { size } of all) {
    bytes += size
    objects += 1
  }
  return { bytes, objects }
}
