import type { LogFollowers } from './logs/log-followers.ts'
import type { ServiceDeps } from './service-deps.ts'

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
  /** How long jobs are kept after their end; null for ever. */
  readonly keepDays: number | null
  readonly keepOutput: OutputRetention
}
