import type { LogFollowers } from './logs/log-followers.ts'
import type { ServiceDeps } from './service-deps.ts'

/** Which ended jobs are kept; null for all of them. */
export interface JobRetention {
  /** Since the job's end. */
  readonly days: number | null
  /** Of each project; those that ended first go first. */
  readonly count: number | null
}

/** Which output of ended jobs is kept; null for all of it. */
export interface OutputRetention {
  /** Since the job's end. */
  readonly days: number | null
  /** Of each project, before compression: the output of jobs that ended first goes first. */
  readonly bytes: number | null
}

/** What the services of a worker need beyond those of the API. */
export interface WorkerDeps extends ServiceDeps {
  /** Names this worker in claims and leases. */
  readonly workerId: string
  readonly followers: LogFollowers
  readonly keepJobs: JobRetention
  readonly keepOutput: OutputRetention
}
