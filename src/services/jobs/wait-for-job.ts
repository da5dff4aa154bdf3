import { isTerminal } from '../../domain/job-state.ts'
import type { JobView } from '../../domain/job-view.ts'
import { getJob, type JobId } from './get-job.ts'
import type { ServiceDeps } from '../service-deps.ts'

const POLL_MS = 1_000

/** As `getJob`, but not before the job has ended or `seconds` are over. */
export async function waitForJob(deps: ServiceDeps, wait: JobId & { seconds: number; signal: AbortSignal }): Promise<JobView> {
  const until = performance.now() + wait.seconds * 1_000
  const bell = deps.signals.listen(`job:${wait.id}`)
  try {
    for (;;) {
      const job = await getJob(deps, wait)
      const left = until - performance.now()
      if (isTerminal(job.state) || left <= 0 || wait.signal.aborted) return job
      await bell.next(Math.min(left, POLL_MS), wait.signal)
    }
  } finally {
    bell.close()
  }
}
