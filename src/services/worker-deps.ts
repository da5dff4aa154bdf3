import type { LogFollowers } from './logs/log-followers.ts'
import type { ServiceDeps } from './service-deps.ts'

/** What the services of a worker need beyond those of the API. */
export interface WorkerDeps extends ServiceDeps {
  /** Names this worker in claims and leases. */
  readonly workerId: string
  readonly followers: LogFollowers
  /** How long jobs are kept after their end; null for ever. */
  readonly keepDays: number | null
}
