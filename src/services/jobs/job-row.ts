import type { JobSpec } from '../../domain/job-spec.ts'
import type { JobState } from '../../domain/job-state.ts'
import type { JobSummary } from '../../domain/job-view.ts'

/** A row of `job`, as far as it is shown. */
export interface JobRow {
  readonly id: string
  readonly name: string
  readonly scheduler: string
  readonly state: JobState
  readonly reason: string | null
  readonly detail: string | null
  readonly since: Date
  readonly spec: JobSpec
  readonly labels: Record<string, string>
  readonly definition_name: string | null
  readonly definition_version: number | null
  readonly retry_of: string | null
  readonly created_at: Date
  readonly started_at: Date | null
  readonly ended_at: Date | null
}

export const summaryOf = (row: Omit<JobRow, 'spec' | 'definition_name' | 'definition_version' | 'retry_of'>): JobSummary => ({
  id: row.id,
  name: row.name,
  scheduler: row.scheduler,
  state: row.state,
  reason: row.reason,
  detail: row.detail,
  since: row.since.toISOString(),
  labels: row.labels,
  createdAt: row.created_at.toISOString(),
  startedAt: row.started_at?.toISOString() ?? null,
  endedAt: row.ended_at?.toISOString() ?? null,
})
