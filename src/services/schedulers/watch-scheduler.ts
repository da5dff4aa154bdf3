import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptObservation, ObservationBatch } from '../../domain/attempt.ts'
import { dropLease, takeLease } from '../../db/statements/lease.ts'
import { SchedulerError, type Scheduler } from '../../schedulers/scheduler.ts'
import { applyObservation } from '../attempts/apply-observation.ts'
import { MissingAttempts } from '../attempts/missing-attempts.ts'
import { noteMistake, noteReachable, noteUnreachable } from './note-reachability.ts'
import { isDatabaseAway } from '../database-away.ts'
import { OrphanedAttempts } from '../attempts/orphaned-attempts.ts'
import { Poison } from './poison.ts'
import { recordHealth } from './scheduler-health.ts'
import type { WorkerDeps } from '../worker-deps.ts'

const RENEW_MS = 2_000
const RETRY_MS = 2_000
/** More ends at once than this are left to the doorbells, which any worker may answer. */
const SETTLE_AT_ONCE = 4

export interface WatchedScheduler {
  readonly name: string
  readonly scheduler: Scheduler
  /** Takes an attempt that was seen to end on at once. */
  settle(attemptId: string): Promise<void>
}

/**
 * Watches one scheduler for as long as this worker holds its lease, and tries for the lease while another does.
 * Ends when told to.
 */
export async function watchScheduler(deps: WorkerDeps, watched: WatchedScheduler, stop: AbortSignal): Promise<void> {
  const lease = `watch:${watched.name}`
  const poison = new Poison(deps.log)
  while (!stop.aborted) {
    try {
      if (await takeLease(deps.pool, lease, deps.workerId)) await watchUnderLease(deps, { ...watched, poison }, stop)
    } catch (error) {
      deps.log.warn({ err: error, scheduler: watched.name }, 'watching broke off and will be taken up again')
      if (error instanceof SchedulerError) await reportAway(deps, watched.name, error)
    }
    await sleep(RETRY_MS, undefined, { signal: stop }).catch(() => undefined)
  }
  await dropLease(deps.pool, lease, deps.workerId).catch(() => undefined)
}

async function reportAway(deps: WorkerDeps, name: string, error: SchedulerError): Promise<void> {
  const told = Promise.all([recordHealth(deps, name, error), noteUnreachable(deps, name, error.message)])
  await told.catch((failure: unknown) => deps.log.warn({ err: failure }, 'that a scheduler is away was not recorded'))
}

/** What one spell of watching hands on to the next. */
interface Watched extends WatchedScheduler {
  readonly poison: Poison
}

async function watchUnderLease(deps: WorkerDeps, watched: Watched, stop: AbortSignal): Promise<void> {
  const lost = new AbortController()
  const timer = setInterval(() => {
    takeLease(deps.pool, `watch:${watched.name}`, deps.workerId)
      .then((held) => held || lost.abort())
      .catch(() => lost.abort())
  }, RENEW_MS)
  try {
    const watch = new Watch(deps, watched, AbortSignal.any([stop, lost.signal]))
    await watch.observe()
  } finally {
    clearInterval(timer)
    lost.abort()
  }
}

/** One spell of watching: what was already applied, what is missing, what is nobody's. */
class Watch {
  readonly #deps: WorkerDeps
  readonly #watched: Watched
  readonly #signal: AbortSignal
  readonly #applied = new Map<string, string>()
  #settling = 0
  readonly #missing: MissingAttempts
  readonly #orphans: OrphanedAttempts

  constructor(deps: WorkerDeps, watched: Watched, signal: AbortSignal) {
    this.#deps = deps
    this.#watched = watched
    this.#signal = signal
    this.#missing = new MissingAttempts(deps, watched)
    this.#orphans = new OrphanedAttempts(deps, watched.scheduler)
  }

  async observe(): Promise<void> {
    for await (const batch of this.#watched.scheduler.observe(this.#signal)) {
      if (this.#signal.aborted) return
      await this.#applyAll(batch.attempts)
      if (batch.complete) await this.#compare(batch)
    }
  }

  /** What cannot be applied must not keep the others from it; then the watch begins anew, with a complete list. */
  async #applyAll(attempts: readonly AttemptObservation[]): Promise<void> {
    const failures: unknown[] = []
    const { poison } = this.#watched
    for (const attempt of attempts) {
      const { attemptId } = attempt
      if (poison.isAside(attemptId)) continue
      try {
        await this.#apply(attempt)
        poison.passed(attemptId)
      } catch (error) {
        // A database that is away says nothing of the attempt.
        const isAside = !isDatabaseAway(error) && poison.failed(attemptId, error)
        if (isAside) await noteMistake(this.#deps, attemptId)
        else failures.push(error)
      }
    }
    if (failures.length > 0) throw new Error(`${failures.length} observations were not applied`, { cause: failures[0] })
  }

  /** What was applied before is not applied again. */
  async #apply(attempt: AttemptObservation): Promise<void> {
    const view = JSON.stringify(attempt.replicas)
    if (this.#applied.get(attempt.attemptId) === view) return
    const applied = await applyObservation(this.#deps, attempt)
    this.#applied.set(attempt.attemptId, view)
    if (!applied) return
    const handle = { attemptId: attempt.attemptId, graceSeconds: applied.live.spec.graceSeconds }
    for (const { role, index, startedAt } of attempt.replicas) {
      const owner = { attemptId: attempt.attemptId, role, index }
      if (startedAt !== null) this.#deps.followers.follow(this.#watched.scheduler, handle, owner)
    }
    if (applied.ended) this.#settle(attempt.attemptId)
  }

  /** Who saw the end need not wait for the doorbell that rings for it; whoever claims the attempt first settles it. */
  #settle(attemptId: string): void {
    if (this.#settling >= SETTLE_AT_ONCE) return
    this.#settling += 1
    void this.#watched
      .settle(attemptId)
      .catch((error: unknown) => this.#deps.log.debug({ err: error }, 'not settled at once; the doorbell will do'))
      .finally(() => (this.#settling -= 1))
  }

  async #compare(batch: ObservationBatch): Promise<void> {
    const present = new Set(batch.attempts.map((attempt) => attempt.attemptId))
    for (const attemptId of this.#applied.keys()) if (!present.has(attemptId)) this.#applied.delete(attemptId)
    this.#deps.followers.retain(this.#watched.scheduler, present)
    await noteReachable(this.#deps, this.#watched.name)
    await this.#missing.compare(batch.attempts)
    await this.#orphans.compare([...present], this.#signal)
    await recordHealth(this.#deps, this.#watched.name, await this.#watched.scheduler.health(this.#signal))
  }
}
