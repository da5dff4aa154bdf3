import type { Outcome } from '../../domain/decide-outcome.ts'
import { SchedulerError } from '../../schedulers/scheduler.ts'
import { progressNotes } from '../attempts/progress-notes.ts'
import type { Step } from '../attempts/step.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { collectOutputs, OutputError, outputsAfter } from './collect-outputs.ts'
import { placeInDrive } from './staged-mounts.ts'
import { storeFailure } from './store-failure.ts'

/**
 * Makes the outputs of an ended attempt visible, and says how it ended then: a success whose outputs are not safe is none.
 *
 * @throws SchedulerError `unavailable`: to be tried again
 */
export async function keepOutputs(deps: ServiceDeps, step: Step, outcome: Outcome): Promise<Outcome> {
  const mounts = outputsAfter(step, outcome.result)
  if (mounts.length === 0) return outcome
  const note = progressNotes(deps, step.claim, ['finishing', 'canceling'])
  try {
    await collectOutputs(deps, step, mounts, {
      round: 'end',
      progress: (reason, figures) => note({ reason, detail: `${figures.files} files, ${figures.bytes} bytes`, figures }),
    })
    return outcome
  } catch (error) {
    return withoutOutputs(outcome, lossOf(error))
  }
}

/** What is to be told of outputs that are lost for good. @throws what may be better next time */
function lossOf(error: unknown): string {
  if (error instanceof OutputError) {
    const failure = storeFailure(error.cause, placeInDrive(error.mount))
    if (failure instanceof SchedulerError && failure.kind === 'rejected') {
      return `${failure.message}; its files are kept, unseen, as batch ${error.batchId} of the drive`
    }
    throw failure
  }
  if (error instanceof SchedulerError && error.kind !== 'unavailable') return `the outputs are gone: ${error.message}`
  throw error
}

/** A failure keeps its own reason, and a cancel stays one. */
const withoutOutputs = ({ result, reason, detail }: Outcome, loss: string): Outcome =>
  result === 'succeeded'
    ? { result: 'failed', reason: 'mount_failed', detail: loss }
    : { result, reason, detail: detail === null ? loss : `${detail}; ${loss}` }
