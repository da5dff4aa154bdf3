import type { JobState } from '../../domain/job-state.ts'
import type { StagingFigures } from '../../schedulers/scheduler.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { noteProgress } from './transition.ts'

const PROGRESS_MS = 1_000

export interface ProgressNote {
  readonly reason: string
  readonly detail: string
  readonly figures?: StagingFigures
}

/** Notes on an attempt while it is in one of these states: at most one a second for each reason, so that long work can be watched. */
export function progressNotes(
  deps: ServiceDeps,
  claim: { readonly attemptId: string; readonly epoch: number },
  states: readonly JobState[],
): (note: ProgressNote) => void {
  const last = new Map<string, number>()
  return (note) => {
    if (performance.now() - (last.get(note.reason) ?? -Infinity) < PROGRESS_MS) return
    last.set(note.reason, performance.now())
    void store(deps, states, { attemptId: claim.attemptId, epoch: claim.epoch, ...note })
  }
}

/** The state may have moved on by then, which is fine. */
async function store(
  deps: ServiceDeps,
  states: readonly JobState[],
  change: ProgressNote & { attemptId: string; epoch: number },
): Promise<void> {
  try {
    for (const state of states) if (await noteProgress(deps, state, change)) return
  } catch (error) {
    deps.log.debug({ err: error }, 'a progress note was not stored')
  }
}
