import { join } from 'node:path'
import { crashPoint } from '../../crash-point.ts'
import { inLanes } from '../../in-lanes.ts'
import { SchedulerError, type SubmitContext } from '../scheduler.ts'
import type { Cgroups } from './cgroups.ts'
import { attemptFolder, tombstoneFile } from './folders.ts'
import { prepareReplica } from './prepare-replica.ts'
import { deleteTree } from './remove-attempt.ts'
import type { LocalReplica, LocalRequest } from './render.ts'
import { exists, readStart } from './replica-facts.ts'
import { startReplica } from './start-replica.ts'
import { stageReplica, type StagePlace } from './stage-replica.ts'
import type { StartPlace } from './start-replica.ts'

export type SubmitPlace = StartPlace & StagePlace & { readonly cgroups: Cgroups }

/**
 * Prepares all replicas that nobody has started yet, then starts them. Each start is taken by an exclusive file in a
 * folder that is the same for every claim, so that a claim that comes late, or twice, finds it taken.
 */
export async function submitAttempt(request: LocalRequest, place: SubmitPlace, context: SubmitContext): Promise<void> {
  const { signal } = context
  const { root } = place
  await refuseForbidden(root, request.attemptId)
  const missing: LocalReplica[] = []
  for (const replica of request.replicas) if (await readStart(join(root, replica.directory)) === null) missing.push(replica)
  crashPoint('local.prepare.before')
  const prepared = await inLanes(STARTS_AT_ONCE, missing, async (replica) => {
    throwIfTakenOver(signal)
    const cgroups = await prepareReplica(request, replica, place)
    await stageReplica(replica, context, place)
    return { replica, cgroups }
  })
  crashPoint('local.prepare.after')
  await refuseForbidden(root, request.attemptId).catch((error: unknown) => discard(request, root, error))
  await inLanes(STARTS_AT_ONCE, prepared, async (replica) => {
    throwIfTakenOver(signal)
    crashPoint('local.start.before')
    await startReplica(request, replica, place)
    crashPoint('local.start.after')
  })
}

async function refuseForbidden(root: string, attemptId: string): Promise<void> {
  if (!await exists(tombstoneFile(root, attemptId))) return
  throw new SchedulerError('conflict', `${attemptId} was canceled or removed: it does not start any more`)
}

/** Canceled or removed while it was prepared: what was made for nothing goes again, unless another claim had started it. */
async function discard(request: LocalRequest, root: string, error: unknown): Promise<never> {
  const starts = await Promise.all(request.replicas.map(({ directory }) => readStart(join(root, directory))))
  if (starts.every((start) => start === null)) await deleteTree(attemptFolder(root, request.attemptId))
  throw error
}

/** Starting a process holds up everything else in this one: a few at once, then a breath. */
const STARTS_AT_ONCE = 8

function throwIfTakenOver(signal: AbortSignal): void {
  if (signal.aborted) throw new SchedulerError('conflict', 'the claim is no longer ours')
}
