import { SchedulerError } from '../../schedulers/scheduler.ts'
import type { Step } from '../attempts/step.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { checkpointsOf, collectOutputs, OutputError } from './collect-outputs.ts'

/**
 * Takes out what a running attempt has written so far, for mounts that ask for it. One that fails is left to the next,
 * and at last to the end, which tells.
 *
 * @returns in how many seconds to do it again; null for never
 */
export async function checkpointOutputs(deps: ServiceDeps, step: Step): Promise<number | null> {
  const checkpoints = checkpointsOf(step)
  if (checkpoints === null) return null
  if (step.claim.state === 'running') {
    try {
      await collectOutputs(deps, step, checkpoints.mounts, { round: `checkpoint-${step.claim.epoch}`, progress: () => undefined })
    } catch (error) {
      if (!(error instanceof OutputError) && !(error instanceof SchedulerError)) throw error
      deps.log.warn({ err: error, attempt: step.claim.attemptId }, 'a checkpoint was not taken')
    }
  }
  return checkpoints.everySeconds
}
