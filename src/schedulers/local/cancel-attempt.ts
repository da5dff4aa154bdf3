import { writeFile } from 'node:fs/promises'
import { crashPoint } from '../../crash-point.ts'
import type { AttemptHandle } from '../../domain/attempt.ts'
import { tombstoneFile } from './folders.ts'
import type { LocalPlace } from './local-place.ts'
import { readAttempt } from './replica-facts.ts'
import { stopReplica } from './stop-replica.ts'

/**
 * Ends all replicas, and lets none start that has not. Forbids first and looks then, while a supervisor takes the start
 * first and looks for the tombstone then: none slips through.
 */
export async function cancelAttempt(place: LocalPlace, handle: AttemptHandle, signal: AbortSignal): Promise<void> {
  const { attemptId, graceSeconds } = handle
  crashPoint('local.cancel.before')
  await forbidStart(place.root, attemptId)
  const replicas = await readAttempt(place.root, attemptId, place.installation)
  await Promise.all(replicas.map((replica) => stopReplica(replica, { isolation: place.isolation, graceSeconds, signal })))
  crashPoint('local.cancel.after')
}

/** No replica of this attempt starts any more; those that have started are not touched. */
export const forbidStart = (root: string, attemptId: string): Promise<void> => writeFile(tombstoneFile(root, attemptId), '')
