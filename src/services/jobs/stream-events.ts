import type { JobEvent } from '../../domain/job-view.ts'
import type { JobId } from './get-job.ts'
import { listEvents } from './list-events.ts'
import type { ServiceDeps } from '../service-deps.ts'

const POLL_MS = 1_000
const BATCH = 200

/** Every event after a sequence number as it comes, until the job has ended. @throws Problem `not_found` */
export async function* streamEvents(
  deps: ServiceDeps,
  { project, id, after, signal }: JobId & { after: number; signal: AbortSignal },
): AsyncGenerator<JobEvent> {
  const bell = deps.signals.listen(`job:${id}`)
  let reached = after
  try {
    while (!signal.aborted) {
      const { items, last } = await listEvents(deps, { project, id, after: reached, limit: BATCH })
      yield* items
      reached = items.at(-1)?.sequence ?? reached
      if (last) return
      if (items.length < BATCH) await bell.next(POLL_MS, signal)
    }
  } finally {
    bell.close()
  }
}
