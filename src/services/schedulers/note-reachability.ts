import type { JobState } from '../../domain/job-state.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { noteProgress } from '../attempts/transition.ts'

const REASON = 'scheduler_unreachable'

const WAITING = `
SELECT id, state FROM attempt
WHERE scheduler = $1 AND submitting_at IS NOT NULL AND removed_at IS NULL AND outcome IS NULL
  AND state IN ('pending', 'running') AND reason IS NOT DISTINCT FROM $2`

/** Says on every attempt that is on the scheduler that nothing is known of it now. Unreachable is never dead. */
export async function noteUnreachable(deps: ServiceDeps, scheduler: string, detail: string): Promise<void> {
  for (const { id, state } of await attemptsWith(deps, scheduler, null)) {
    await noteProgress(deps, state, { attemptId: id, reason: REASON, detail })
  }
}

/** Takes that back. */
export async function noteReachable(deps: ServiceDeps, scheduler: string): Promise<void> {
  for (const { id, state } of await attemptsWith(deps, scheduler, REASON)) await noteProgress(deps, state, { attemptId: id })
}

/** Says on an attempt that what its scheduler says of it cannot be taken in, so that its state may be old. Never throws. */
export async function noteMistake(deps: ServiceDeps, attemptId: string): Promise<void> {
  const change = { attemptId, reason: 'internal_error', detail: 'what its scheduler says of it cannot be read; an operator must look' }
  try {
    for (const state of ['starting', 'pending', 'running'] as const) if (await noteProgress(deps, state, change)) return
  } catch (error) {
    deps.log.warn({ err: error, attempt: attemptId }, 'that an attempt is set aside was not recorded')
  }
}

async function attemptsWith(deps: ServiceDeps, scheduler: string, reason: string | null): Promise<{ id: string; state: JobState }[]> {
  const { rows } = await deps.pool.query<{ id: string; state: JobState }>(WAITING, [scheduler, reason])
  return rows
}
