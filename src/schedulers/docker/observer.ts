import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptObservation, ObservationBatch } from '../../domain/attempt.ts'
import { ContainerTable } from './container-table.ts'
import type { Engine } from './engine.ts'
import { EventFeed } from './event-feed.ts'
import { findOwners } from './find-owners.ts'
import type { DaemonFacts } from './status.ts'

/** At least every 15 s is promised; the rest is for the list itself. */
const COMPLETE_EVERY_MS = 10_000
/** Keeps a daemon that drops every event stream from being asked without end. */
const RECONNECT_MS = 200

/**
 * Complete lists are the truth; events, of which the daemon may drop some, only say where to look in between. They are asked
 * for before the first list, so that nothing falls between the two.
 *
 * @throws EngineError when the daemon is away
 */
export async function* observeContainers(engine: Engine, installation: string, signal: AbortSignal): AsyncGenerator<ObservationBatch> {
  while (!signal.aborted) {
    const events = await EventFeed.open(engine, installation, signal)
    // Wakes whoever waits for a change.
    const close = (): void => events.close()
    signal.addEventListener('abort', close, { once: true })
    try {
      const table = new ContainerTable(engine, installation, await askDaemon(engine, signal))
      const findLeftovers = (known: readonly AttemptObservation[]) => findOthers(known, { engine, installation, signal })
      yield* watch(events, { table, findLeftovers }, signal)
    } finally {
      signal.removeEventListener('abort', close)
      events.close()
    }
    await sleep(RECONNECT_MS, undefined, { signal }).catch(() => {})
  }
}

interface Watched {
  readonly table: ContainerTable
  readonly findLeftovers: (known: readonly AttemptObservation[]) => Promise<AttemptObservation[]>
}

async function* watch(events: EventFeed, { table, findLeftovers }: Watched, signal: AbortSignal): AsyncGenerator<ObservationBatch> {
  let completeAt = 0
  while (!events.ended && !signal.aborted) {
    if (performance.now() >= completeAt) {
      completeAt = performance.now() + COMPLETE_EVERY_MS
      const attempts = await table.reload(signal)
      yield { complete: true, attempts: [...attempts, ...(await findLeftovers(attempts))] }
    }
    await events.changed(completeAt - performance.now())
    const changed = events.take()
    if (changed.size === 0) continue
    const attempts = await table.refresh(changed, signal)
    if (attempts.length > 0) yield { complete: false, attempts }
  }
}

/** Attempts without a replica, of which something else was left: they are told of so that it can be removed. */
async function findOthers(known: readonly AttemptObservation[], place: DaemonPlace): Promise<AttemptObservation[]> {
  const owners = await findOwners(place.engine, place.installation, place.signal)
  for (const { attemptId } of known) owners.delete(attemptId)
  return [...owners].map((attemptId) => ({ attemptId, replicas: [] }))
}

interface DaemonPlace {
  readonly engine: Engine
  readonly installation: string
  readonly signal: AbortSignal
}

/** The default bridge is made anew at each start of the daemon, unless containers have lived through it. */
async function askDaemon(engine: Engine, signal: AbortSignal): Promise<DaemonFacts> {
  const [info, bridge] = await Promise.all([
    engine.call<{ Name?: string }>({ method: 'GET', path: '/info', signal }),
    engine.find<{ Created?: string }>({ method: 'GET', path: '/networks/bridge', signal }),
  ])
  return { node: info.Name ?? null, startedAt: bridge?.Created ?? null }
}
