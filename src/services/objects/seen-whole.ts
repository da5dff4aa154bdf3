import { StoreError } from '../../stores/object-store.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { commitsOf, finishCommits, type DriveObjects } from './finish-commits.ts'

const MOST_LOOKS = 20

/**
 * Looks at many objects of a drive so that each batch is seen as a whole or not at all: if one became visible meanwhile, it
 * looks again.
 *
 * @throws StoreError `unavailable` where one batch follows another without end
 */
export async function seenWhole<T>(deps: ServiceDeps, place: DriveObjects, look: () => Promise<T>): Promise<T> {
  if (place.drive.id === null) return look()
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const before = await finishCommits(deps, place)
    const seen = await look()
    const { commits, begun } = await commitsOf(deps, place.drive.id)
    if (commits === before && begun === null) return seen
  }
  throw new StoreError('unavailable', 'batch after batch becomes visible on the drive; look again later')
}
