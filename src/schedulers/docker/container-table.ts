import type { AttemptObservation, ReplicaObservation } from '../../domain/attempt.ts'
import { inLanes } from '../../in-lanes.ts'
import { REQUESTS_AT_ONCE, type Engine } from './engine.ts'
import { byStanding, findContainers, inspectContainer, isReplica, type FoundReplica } from './find-containers.ts'
import { identify } from './labels.ts'
import { mayBeEndedByDaemon, observeState, type DaemonFacts } from './status.ts'

/** What was last seen of each container. An end is final: no container is ever started twice. */
export class ContainerTable {
  readonly #engine: Engine
  readonly #installation: string
  readonly #daemon: DaemonFacts
  readonly #seen = new Map<string, SeenContainer>()

  constructor(engine: Engine, installation: string, daemon: DaemonFacts) {
    this.#engine = engine
    this.#installation = installation
    this.#daemon = daemon
  }

  /** Everything that there is. Only what has changed since the last time costs a call of its own. */
  async reload(signal: AbortSignal): Promise<AttemptObservation[]> {
    const listed = (await findContainers(this.#engine, { installation: this.#installation }, signal)).filter(isReplica)
    const ids = new Set(listed.map(({ id }) => id))
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id)
    const changed = listed.filter((container) => this.#isNews(container))
    await inLanes(REQUESTS_AT_ONCE, changed, async ({ id }) => void (await this.#look(id, signal)))
    return this.#observations(new Set([...this.#seen.values()].map(({ identity }) => identity.attemptId)))
  }

  /** The attempts that these containers belong, or belonged, to. */
  async refresh(ids: ReadonlySet<string>, signal: AbortSignal): Promise<AttemptObservation[]> {
    const attempts = new Set<string>()
    await inLanes(REQUESTS_AT_ONCE, [...ids], async (id) => {
      const before = this.#seen.get(id)
      const after = await this.#look(id, signal)
      for (const container of [before, after]) if (container) attempts.add(container.identity.attemptId)
    })
    return this.#observations(attempts)
  }

  /** A created container needs no look: it has no times and no outcome. */
  #isNews({ id, name, status, identity }: FoundReplica): boolean {
    const seen = this.#seen.get(id)
    if (seen !== undefined) {
      this.#seen.set(id, { ...seen, name, identity })
      return !hasEnded(seen.observation) && seen.status !== status && status !== 'created'
    }
    if (status !== 'created') return true
    const state = { Status: status, OOMKilled: false, ExitCode: 0, Error: '', StartedAt: '', FinishedAt: '' }
    this.#seen.set(id, { id, name, status, identity, observation: this.#observe(id, identity, state) })
    return false
  }

  async #look(id: string, signal: AbortSignal): Promise<SeenContainer | null> {
    const seen = this.#seen.get(id)
    const found = await inspectContainer(this.#engine, id, signal)
    const name = found?.Name.slice(1) ?? ''
    const identity = found === null ? null : identify(found.Config.Labels, name)
    if (found === null || identity === null) {
      this.#seen.delete(id)
      return null
    }
    if (seen !== undefined && hasEnded(seen.observation)) return seen
    // Of a daemon that goes down an end is believed only after its return, when it can be told who did it.
    if (mayBeEndedByDaemon(found.State)) await this.#engine.assertTakesConnections(signal)
    const status = found.State.Status
    const container = { id, name, status, identity, observation: this.#observe(id, identity, found.State) }
    this.#seen.set(id, container)
    return container
  }

  #observe(id: string, { role, index }: FoundReplica['identity'], state: Parameters<typeof observeState>[0]): ReplicaObservation {
    return { role, index, nativeId: id, ...observeState(state, this.#daemon) }
  }

  /** One container for each replica, though claims may have left two for a moment. */
  #observations(attempts: ReadonlySet<string>): AttemptObservation[] {
    const replicas = new Map([...attempts].map((attemptId) => [attemptId, new Map<string, ReplicaObservation>()]))
    for (const { identity: { attemptId, role, index }, observation } of [...this.#seen.values()].sort(byStanding)) {
      const ofAttempt = replicas.get(attemptId)
      const key = `${role} ${index}`
      if (ofAttempt?.has(key) === false) ofAttempt.set(key, observation)
    }
    return [...replicas].map(([attemptId, byReplica]) => ({ attemptId, replicas: [...byReplica.values()] }))
  }
}

type SeenContainer = FoundReplica & { readonly observation: ReplicaObservation }

const hasEnded = ({ phase }: ReplicaObservation): boolean => phase !== 'pending' && phase !== 'running'
