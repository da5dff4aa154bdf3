import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptHandle } from '../../domain/attempt.ts'
import type { LogOwner } from '../../db/statements/append-log.ts'
import type { Scheduler } from '../../schedulers/scheduler.ts'
import { copyLogs } from './copy-logs.ts'
import type { ServiceDeps } from '../service-deps.ts'

/** An output that is followed for longer than this after its replica has ended is read to its end in another way. */
const SETTLE_MS = 5_000

interface Follower {
  readonly scheduler: Scheduler
  readonly attemptId: string
  readonly stop: AbortController
  /** True if it read the output to its end and stored all of it. */
  readonly complete: Promise<boolean>
}

/** The output of running replicas, copied as it comes: one follower for each replica that this worker watches. */
export class LogFollowers {
  readonly #deps: ServiceDeps
  readonly #signal: AbortSignal
  readonly #followers = new Map<string, Follower>()

  /** @param signal ends every follower. */
  constructor(deps: ServiceDeps, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
  }

  /** Starts a follower unless there is one. A broken one is started again by the next observation. */
  follow(scheduler: Scheduler, handle: AttemptHandle, owner: LogOwner): void {
    const key = keyOf(owner)
    if (this.#followers.has(key) || this.#signal.aborted) return
    const stop = new AbortController()
    const signal = AbortSignal.any([this.#signal, stop.signal])
    const complete = copyLogs(this.#deps, { scheduler, handle, owner, follow: true }, signal).then(
      () => !signal.aborted,
      (error: unknown) => {
        this.#followers.delete(key)
        if (!signal.aborted) this.#deps.log.warn({ err: error, ...owner }, 'following an output broke off')
        return false
      },
    )
    this.#followers.set(key, { scheduler, attemptId: owner.attemptId, stop, complete })
  }

  /** Forgets the followers of attempts that the scheduler does not have any more: another worker has settled them. */
  retain(scheduler: Scheduler, present: ReadonlySet<string>): void {
    for (const [key, follower] of this.#followers) {
      if (follower.scheduler !== scheduler || present.has(follower.attemptId)) continue
      follower.stop.abort()
      this.#followers.delete(key)
    }
  }

  /** Ends the follower of a replica that has ended: true if all of its output is stored, so that nothing is left to copy. */
  async settle(owner: LogOwner): Promise<boolean> {
    const key = keyOf(owner)
    const follower = this.#followers.get(key)
    if (!follower) return false
    const late = new AbortController()
    const complete = await Promise.race([follower.complete, sleep(SETTLE_MS, false, { signal: late.signal, ref: false })])
    late.abort()
    follower.stop.abort()
    await follower.complete
    this.#followers.delete(key)
    return complete
  }
}

const keyOf = (owner: LogOwner): string => `${owner.attemptId}/${owner.role}/${owner.index}`
