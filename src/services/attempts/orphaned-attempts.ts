import type { Scheduler } from '../../schedulers/scheduler.ts'
import { whichAreWanted } from './live-attempt.ts'
import type { WorkerDeps } from '../worker-deps.ts'

/** Longer than any submission under way can take to record itself. */
const ORPHAN_MS = 10 * 60_000

/** Finds native objects of this installation that no live row wants, and removes them when seen twice and old enough. */
export class OrphanedAttempts {
  readonly #deps: WorkerDeps
  readonly #scheduler: Scheduler
  readonly #since = new Map<string, number>()

  constructor(deps: WorkerDeps, scheduler: Scheduler) {
    this.#deps = deps
    this.#scheduler = scheduler
  }

  /** @param present every attempt that the scheduler has. */
  async compare(present: readonly string[], signal: AbortSignal): Promise<void> {
    const wanted = await whichAreWanted(this.#deps, present)
    const orphans = new Set(present.filter((attemptId) => !wanted.has(attemptId)))
    for (const attemptId of this.#since.keys()) if (!orphans.has(attemptId)) this.#since.delete(attemptId)
    for (const attemptId of orphans) {
      const since = this.#since.get(attemptId)
      if (since === undefined) this.#since.set(attemptId, performance.now())
      else if (performance.now() - since >= ORPHAN_MS) await this.#remove(attemptId, signal)
    }
  }

  async #remove(attemptId: string, signal: AbortSignal): Promise<void> {
    this.#deps.log.warn({ attempt: attemptId }, 'removing an orphan: no live attempt wants it')
    const handle = { attemptId, graceSeconds: 0 }
    await this.#scheduler.cancel(handle, signal)
    await this.#scheduler.remove(handle, signal)
  }
}
