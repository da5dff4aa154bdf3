import { crashPoint } from '../../crash-point.ts'
import { buildAttemptSpec } from '../../domain/build-attempt-spec.ts'
import { markAttempt } from '../../db/statements/claim-attempt.ts'
import { grantToken } from '../drives/drive-grant.ts'
import { makeDriveDirectories } from '../staging/make-drive-directories.ts'
import { stagingOf } from '../staging/staging-of.ts'
import { progressNotes } from './progress-notes.ts'
import type { Step } from './step.ts'
import { transition } from './transition.ts'
import type { WorkerDeps } from '../worker-deps.ts'

/**
 * Renders the attempt and makes it real. That something may exist is recorded before the first native call, and that
 * everything does after the last.
 *
 * @returns 0 when a cancel came in between and is to be looked at now; null when the watcher will take it on.
 * @throws SchedulerError
 */
export async function submitAttempt(deps: WorkerDeps, { claim, scheduler, signal }: Step): Promise<number | null> {
  const { attemptId, epoch } = claim
  await transition(deps, 'starting', { attemptId, epoch })
  if (!(await markAttempt(deps.pool, claim, 'submitting'))) return 0
  crashPoint('submit.intent.after')
  const spec = buildAttemptSpec({
    installation: deps.installation,
    project: claim.project,
    jobId: claim.jobId,
    spec: claim.spec,
    resolutions: claim.resolutions,
    attemptId,
    attempt: claim.number,
    epoch,
    tokenOf: (place) => grantToken(deps.jobTokenKey, attemptId, place),
  })
  await makeDriveDirectories(deps, spec)
  const native = scheduler.render(spec)
  await scheduler.submit(native, { signal, progress: progressNotes(deps, claim, ['starting']), staging: stagingOf(deps, claim) })
  crashPoint('submit.native.after')
  await markAttempt(deps.pool, claim, 'submitted')
  await transition(deps, 'pending', { attemptId, epoch })
  return null
}
