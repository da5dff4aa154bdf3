import { isTerminal, type JobState } from '../../domain/job-state.ts'
import type { LogRecord } from '../../domain/job-view.ts'
import { Problem } from '../../domain/problem.ts'
import type { JobId } from '../jobs/get-job.ts'
import { LogPosition } from './log-position.ts'
import { readSegments, tailPosition, type LogFilter } from './log-segments.ts'
import type { ServiceDeps } from '../service-deps.ts'

const POLL_MS = 1_000

export interface ReadLogsOptions extends LogFilter {
  /** Go on until the job has ended and all of its output was given. */
  readonly follow: boolean
  /** One attempt; all of them, in order, if left out. */
  readonly attempt?: number | undefined
  /** Begin with the last lines of each replica. */
  readonly tail?: number | undefined
  /** Go on where a record's cursor says. */
  readonly cursor?: string | undefined
}

/**
 * A job's output, byte for byte: the same before the start, while it runs and after the end. Within a replica in the
 * order of reading; replicas one after the other where there is a choice.
 *
 * @throws Problem `not_found`, `malformed_request` for a bad cursor, `output_removed`, `store_failed`
 */
export async function* readLogs(
  deps: ServiceDeps,
  { project, id, options, signal }: JobId & { options: ReadLogsOptions; signal: AbortSignal },
): AsyncGenerator<LogRecord> {
  const start = options.cursor === undefined ? null : LogPosition.parse(options.cursor)
  let number = Math.max(options.attempt ?? 1, start?.attempt ?? 1)
  for (;;) {
    const attempt = await findAttempt(deps, { project, id }, number)
    if (!attempt) return
    const position = await startingPosition(deps, attempt, number, { options, start })
    const more = yield* readAttempt(deps, { project, id, number, attemptId: attempt.id, position, options, signal })
    if (!more || options.attempt !== undefined) return
    number += 1
  }
}

interface Reading extends JobId {
  readonly number: number
  readonly attemptId: string
  readonly position: LogPosition
  readonly options: ReadLogsOptions
  readonly signal: AbortSignal
}

/** @returns whether to go on with the next attempt */
async function* readAttempt(deps: ServiceDeps, reading: Reading): AsyncGenerator<LogRecord, boolean> {
  const { attemptId, number, options, position, signal } = reading
  const bell = deps.signals.listen(`log:${attemptId}`)
  const changed = deps.signals.listen(`job:${reading.id}`)
  try {
    while (!signal.aborted) {
      const state = (await findAttempt(deps, reading, number))?.state
      yield* readSegments(deps, { attemptId, position, filter: options })
      if (state === undefined || isTerminal(state) || !options.follow) return true
      const woken = new AbortController()
      const either = AbortSignal.any([signal, woken.signal])
      await Promise.race([bell.next(POLL_MS, either), changed.next(POLL_MS, either)])
      woken.abort()
    }
    return false
  } finally {
    bell.close()
    changed.close()
  }
}

interface FoundAttempt {
  readonly id: string
  readonly state: JobState
}

const FIND = `
SELECT a.id, a.state, j.output_removed_at AS removed
FROM job j LEFT JOIN attempt a ON a.job_id = j.id AND a.number = $3
WHERE j.id = $1 AND j.project_id = $2`

/** Null when the job has no such attempt (yet). */
async function findAttempt(deps: ServiceDeps, { project, id }: JobId, number: number): Promise<FoundAttempt | null> {
  const { rows } = await deps.pool.query<{ [K in keyof FoundAttempt]: FoundAttempt[K] | null } & { removed: Date | null }>({
    name: 'log_attempt',
    text: FIND,
    values: [id, project, number],
  })
  const row = rows[0]
  if (!row) throw new Problem('not_found', `there is no job ${id}`)
  if (row.removed) throw new Problem('output_removed', `the output of job ${id} was kept until ${row.removed.toISOString()}`)
  return row.id === null || row.state === null ? null : { id: row.id, state: row.state }
}

async function startingPosition(
  deps: ServiceDeps,
  attempt: FoundAttempt,
  number: number,
  { options, start }: { options: ReadLogsOptions; start: LogPosition | null },
): Promise<LogPosition> {
  if (start?.attempt === number) return start
  if (start === null && options.tail !== undefined)
    return tailPosition(deps, { attemptId: attempt.id, number, filter: options }, options.tail)
  return new LogPosition(number)
}
