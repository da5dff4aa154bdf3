import type { AttemptObservation, ReplicaObservation } from '../../domain/attempt.ts'
import type { Scheduler } from '../../schedulers/scheduler.ts'
import { applyObservation } from './apply-observation.ts'
import { listSubmittedAttempts, type LiveAttempt } from './live-attempt.ts'
import type { Poison } from '../schedulers/poison.ts'
import type { WorkerDeps } from '../worker-deps.ts'

/** Gone means: absent from complete lists for at least this long, and from two of them. */
const GONE_MS = 15_000

interface Watched {
  readonly name: string
  readonly scheduler: Pick<Scheduler, 'startsAtSubmit'>
  readonly poison: Pick<Poison, 'isAside'>
}

/**
 * Finds replicas that should exist on a scheduler and do not, or should have begun there and have not, and records them as
 * lost: never as a success. And finds attempts whose replicas have all ended without that anybody could say so.
 */
export class MissingAttempts {
  readonly #deps: WorkerDeps
  readonly #watched: Watched
  readonly #since = new Map<string, number>()

  constructor(deps: WorkerDeps, watched: Watched) {
    this.#deps = deps
    this.#watched = watched
  }

  /** @param present everything that the scheduler has. */
  async compare(present: readonly AttemptObservation[]): Promise<void> {
    const { name, scheduler, poison } = this.#watched
    const isThere = ({ phase }: ReplicaObservation): boolean => !scheduler.startsAtSubmit || phase !== 'pending'
    const seen = new Set(present.flatMap(({ attemptId, replicas }) => replicas.filter(isThere).map((replica) => keyOf(attemptId, replica))))
    const missing = new Set<string>()
    for (const live of await listSubmittedAttempts(this.#deps, name)) {
      if (poison.isAside(live.attemptId)) continue
      const gone = expected(live).filter((replica) => !seen.has(keyOf(live.attemptId, replica)) && !hasEnded(live, replica))
      for (const replica of gone) missing.add(keyOf(live.attemptId, replica))
      const lost = gone.filter((replica) => this.#isGone(live, keyOf(live.attemptId, replica)))
      const isOver = expected(live).every((replica) => hasEnded(live, replica))
      if (lost.length > 0 || isOver) await applyObservation(this.#deps, { attemptId: live.attemptId, replicas: lost.map(asLost) })
    }
    for (const key of this.#since.keys()) if (!missing.has(key)) this.#since.delete(key)
  }

  /** What we ended ourselves needs no second look. */
  #isGone(live: LiveAttempt, key: string): boolean {
    const now = performance.now()
    const since = this.#since.get(key)
    if (since === undefined) this.#since.set(key, now)
    return since !== undefined && (live.stopReason !== null || now - since >= GONE_MS)
  }
}

type ReplicaId = Pick<ReplicaObservation, 'role' | 'index'>

const keyOf = (attemptId: string, { role, index }: ReplicaId): string => `${attemptId}/${role}/${index}`

const expected = ({ spec }: LiveAttempt): ReplicaId[] =>
  spec.roles.flatMap((role) => Array.from({ length: role.replicas }, (_, index) => ({ role: role.name, index })))

const hasEnded = ({ replicas }: LiveAttempt, { role, index }: ReplicaId): boolean =>
  replicas.some((replica) => replica.role === role && replica.index === index && ['succeeded', 'failed', 'lost'].includes(replica.phase))

const asLost = ({ role, index }: ReplicaId): ReplicaObservation => ({
  role,
  index,
  phase: 'lost',
  exitCode: null,
  startedAt: null,
  endedAt: null,
  node: null,
  nativeId: null,
  nativeReason: 'it is no longer there and left no outcome',
  failure: 'lost',
})
