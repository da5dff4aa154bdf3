import type { AttemptView, JobView, ReplicaView } from '../../domain/job-view.ts'
import type { Resolution } from '../../domain/mount-plan.ts'
import { Problem } from '../../domain/problem.ts'
import { summaryOf, type JobRow } from './job-row.ts'
import type { ServiceDeps } from '../service-deps.ts'

/**
 * One statement, so that job, attempts and replicas are of one moment. Columns by name: a prepared statement with `*` fails
 * on every connection that has it as soon as a newer Berth adds a column.
 */
const GET = `
SELECT j.id, j.name, j.scheduler, j.state, j.reason, j.detail, j.since, j.spec, j.labels, j.definition_name,
  j.definition_version, j.retry_of, j.created_at, j.started_at, j.ended_at, (
  SELECT json_agg(json_build_object('number', a.number, 'state', a.state, 'reason', a.reason, 'detail', a.detail,
    'resolutions', a.resolutions, 'started_at', a.started_at, 'ended_at', a.ended_at, 'replicas', (
      SELECT coalesce(json_agg(r ORDER BY r.index), '[]') FROM replica r WHERE r.attempt_id = a.id)) ORDER BY a.number)
  FROM attempt a WHERE a.job_id = j.id) AS attempts
FROM job j WHERE j.id = $1 AND j.project_id = $2`

export interface JobId {
  readonly project: string
  readonly id: string
}

/** @throws Problem `not_found`, also for another project's job */
export async function getJob(deps: ServiceDeps, { project, id }: JobId): Promise<JobView> {
  const { rows } = await deps.pool.query<JobRow & { attempts: AttemptRow[] }>({ name: 'get_job', text: GET, values: [id, project] })
  const row = rows[0]
  if (!row) throw new Problem('not_found', `there is no job ${id}`)
  const { definition_name: name, definition_version: version } = row
  return {
    ...summaryOf(row),
    spec: row.spec,
    definition: name !== null && version !== null ? { name, version } : null,
    retryOf: row.retry_of,
    attempts: row.attempts.map((attempt) => attemptView(row, attempt)),
  }
}

/** A row as json gives it: times are texts. */
interface AttemptRow {
  readonly number: number
  readonly state: AttemptView['state']
  readonly reason: string | null
  readonly detail: string | null
  readonly resolutions: readonly Resolution[]
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly replicas: readonly ReplicaRow[]
}

interface ReplicaRow {
  readonly role: string
  readonly index: number
  readonly phase: ReplicaView['phase']
  readonly exit_code: number | null
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly node: string | null
  readonly native_id: string | null
  readonly native_reason: string | null
  readonly failure: ReplicaView['failure']
}

function attemptView({ spec }: JobRow, attempt: AttemptRow): AttemptView {
  const { number, state, reason, detail, resolutions, replicas } = attempt
  const roles = spec.roles.map(({ name }) => ({ name, replicas: replicas.filter(({ role }) => role === name).map(replicaView) }))
  const times = { startedAt: utc(attempt.started_at), endedAt: utc(attempt.ended_at) }
  return { number, state, reason, detail, roles, mounts: resolutions, ...times }
}

const replicaView = (row: ReplicaRow): ReplicaView => ({
  index: row.index,
  phase: row.phase,
  exitCode: row.exit_code,
  startedAt: utc(row.started_at),
  endedAt: utc(row.ended_at),
  node: row.node,
  nativeId: row.native_id,
  nativeReason: row.native_reason,
  failure: row.failure,
})

const utc = (time: string | null): string | null => (time === null ? null : new Date(time).toISOString())
