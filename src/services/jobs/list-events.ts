import type { JobEvent } from '../../domain/job-view.ts'
import { isTerminal, type JobState } from '../../domain/job-state.ts'
import type { StagingFigures } from '../../schedulers/scheduler.ts'
import { Problem } from '../../domain/problem.ts'
import type { JobId } from './get-job.ts'
import type { ServiceDeps } from '../service-deps.ts'

const EVENTS = `
SELECT seq, type, attempt, data, at FROM job_event WHERE job_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`

/**
 * Events after a sequence number, oldest first. `last`: the job has ended with these, and no more will come.
 *
 * @throws Problem `not_found`
 */
export async function listEvents(
  deps: ServiceDeps,
  { project, id, after, limit }: JobId & { after: number; limit: number },
): Promise<{ items: JobEvent[]; last: boolean }> {
  const job = await deps.pool.query<{ seq: number; state: JobState }>({
    name: 'event_head',
    text: 'SELECT seq, state FROM job WHERE id = $1 AND project_id = $2',
    values: [id, project],
  })
  const head = job.rows[0]
  if (!head) throw new Problem('not_found', `there is no job ${id}`)
  const { rows } = await deps.pool.query<EventRow>({ name: 'events', text: EVENTS, values: [id, after, limit] })
  const items = rows.map((row) => eventOf(id, row))
  const reached = items.at(-1)?.sequence ?? after
  return { items, last: isTerminal(head.state) && reached >= head.seq }
}

interface EventRow {
  readonly seq: number
  readonly type: string
  readonly attempt: number
  readonly data: {
    readonly state: JobState
    readonly reason: string | null
    readonly detail: string | null
    readonly figures?: StagingFigures
  }
  readonly at: Date
}

const eventOf = (jobId: string, { seq, type, attempt, data, at }: EventRow): JobEvent => ({
  jobId,
  sequence: seq,
  type,
  attempt,
  state: data.state,
  reason: data.reason,
  detail: data.detail,
  figures: data.figures ?? null,
  at: at.toISOString(),
})
