import type { AttemptHandle } from '../domain/attempt.ts'
import type { LogOwner } from '../db/statements/append-log.ts'
import type { Scheduler } from '../schedulers/scheduler.ts'
import { copyLogs } from './copy-logs.ts'
import type { ServiceDeps } from './service-deps.ts'

/** The output of running replicas, copied as it comes: one follower for each replica that this worker watches. */
export class LogFollowers {
  readonly #deps: ServiceDeps
  readonly #signal: AbortSignal
  readonly #active = new Map<string, Promise<void>>()
  readonly #complete = new Set<string>()

  /** @param signal ends every follower. */
  constructor(deps: ServiceDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
  }

  /** Starts a follower unless there is one. A broken one is started again by the next observation. */
  follow(scheduler: Scheduler, handle: AttemptHandle, owner: LogOwner): void {
    const key = keyOf(owner)
    if (this.#active.has(key) || this.#complete.has(key) || this.#signal.aborted) return
    const copying = copyLogs(this.#deps, { scheduler, handle, owner, follow: true }, this.#signal)
      .then(() => void (this.#signal.aborted || this.#complete.add(key)))
      .catch((error: unknown) => this.#deps.log.warn({ err: error, ...owner }, 'following an output broke off'))
      .finally(() => this.#active.delete(key))
    this.#active.set(key, copying)
  }

  /**
   * Resolves when this worker follows that output no more: true if all of it is stored. It is asked once, when the
   * replica has ended.
   */
  async settled(owner: LogOwner): Promise<boolean> {
    await this.#active.get(keyOf(owner))
    return this.#complete.delete(keyOf(owner))
  }
}

const keyOf = (owner: LogOwner): string => `${owner.attemptId}/${owner.role}/${owner.index}`
