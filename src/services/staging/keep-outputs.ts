import type { Outcome } from '../../domain/decide-outcome.ts'
import type { FailureReason } from '../../domain/failure-reason.ts'
import type { Resolution } from '../../domain/mount-plan.ts'
import { SchedulerError, type StagingFigures } from '../../schedulers/scheduler.ts'
import { progressNotes } from '../attempts/progress-notes.ts'
import type { Step } from '../attempts/step.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { collectOutputs, OutputError, outputsAfter } from './collect-outputs.ts'
import { placeInDrive } from './staged-mounts.ts'
import { storeFailure } from './store-failure.ts'

/**
 * Has what an ended attempt has written reach its place: live mounts flushed, outputs made visible. Says how it ended then:
 * a success whose outputs are not safe is none.
 *
 * @throws SchedulerError `unavailable`: to be tried again
 */
export async function keepOutputs(deps: ServiceDeps, step: Step, outcome: Outcome): Promise<Outcome> {
  const mounts = outputsAfter(step, outcome.result)
  const flushes = outcome.result === 'succeeded' && step.claim.resolutions.some(writesBehind)
  if (mounts.length === 0 && !flushes) return outcome
  const note = progressNotes(deps, step.claim, ['finishing', 'canceling'])
  try {
    if (flushes)
      await flush(step, (figures) => note({ reason: 'flushing', detail: `${figures.files} files, ${figures.bytes} bytes wait`, figures }))
    await collectOutputs(deps, step, mounts, {
      round: 'end',
      progress: (reason, figures) => note({ reason, detail: `${figures.files} files, ${figures.bytes} bytes`, figures }),
    })
    return outcome
  } catch (error) {
    return withoutOutputs(outcome, lossOf(error))
  }
}

/** What is closed there is not yet where it belongs. */
const writesBehind = ({ plan }: Resolution): boolean => plan.via === 'rclone_volume' && !plan.readOnly

const flush = ({ claim, scheduler, signal }: Step, progress: (figures: StagingFigures) => void): Promise<void> =>
  scheduler.flush({ attemptId: claim.attemptId, graceSeconds: claim.spec.graceSeconds }, { signal, progress })

interface Loss {
  readonly reason: FailureReason
  readonly detail: string
}

/** What is to be told of outputs that are lost for good. @throws what may be better next time */
function lossOf(error: unknown): Loss {
  if (error instanceof OutputError) {
    const failure = storeFailure(error.cause, placeInDrive(error.mount))
    if (failure instanceof SchedulerError && failure.kind === 'rejected') {
      const detail = `${failure.message}; its files are kept, unseen, as batch ${error.batchId} of the drive`
      return { reason: 'mount_failed', detail }
    }
    throw failure
  }
  if (error instanceof SchedulerError && error.kind === 'rejected') return { reason: error.failure, detail: error.message }
  if (error instanceof SchedulerError && error.kind !== 'unavailable') {
    return { reason: 'mount_failed', detail: `the outputs are gone: ${error.message}` }
  }
  throw error
}

/** A failure keeps its own reason, and a cancel stays one. */
const withoutOutputs = ({ result, reason, detail }: Outcome, loss: Loss): Outcome =>
  result === 'succeeded'
    ? { result: 'failed', ...loss }
    : { result, reason, detail: detail === null ? loss.detail : `${detail}; ${loss.detail}` }
