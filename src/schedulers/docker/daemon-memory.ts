import type { Engine } from './engine.ts'
import { readJsonLines } from './json-lines.ts'

/** The last events of its life that a daemon keeps in memory (moby, `eventsLimit` of daemon/events). */
const KEPT_EVENTS = 256

interface DaemonEvent {
  readonly Type?: string
  readonly Action?: string
  readonly Actor?: { readonly ID?: string }
}

/**
 * Whether the daemon was surely started anew after it had made a container: it keeps fewer events than it could, and not the
 * one of the making. A daemon that dies between the start of a container and its own note of it calls it `created` ever
 * after, although it has run.
 */
export async function wasRestartedSince(engine: Engine, containerId: string, signal: AbortSignal): Promise<boolean> {
  const { SystemTime } = await engine.call<{ SystemTime: string }>({ method: 'GET', path: '/info', signal })
  const query = { since: 0, until: Math.ceil(Date.parse(SystemTime) / 1_000) }
  const stream = await engine.stream({ method: 'GET', path: '/events', query, signal })
  let count = 0
  try {
    for await (const event of readJsonLines(stream)) {
      count += 1
      const { Type, Action, Actor } = event as DaemonEvent
      if (Type === 'container' && Action === 'create' && Actor?.ID === containerId) return false
    }
  } finally {
    stream.destroy()
  }
  return count < KEPT_EVENTS
}
