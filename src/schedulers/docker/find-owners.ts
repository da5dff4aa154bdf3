import type { Engine } from './engine.ts'
import { LABELS, labelFilter } from './labels.ts'

/** Attempts of this installation of which the daemon has anything at all: a replica, a probe, a network. */
export async function findOwners(engine: Engine, installation: string, signal: AbortSignal): Promise<Set<string>> {
  const query = { all: true, filters: labelFilter({ installation }) }
  const list = (path: string): Promise<Labelled[]> => engine.call({ method: 'GET', path, query, signal })
  const found = await Promise.all([list('/containers/json'), list('/networks')])
  return new Set(found.flat().flatMap(({ Labels }) => Labels[LABELS.attempt] ?? []))
}

interface Labelled {
  readonly Labels: Readonly<Record<string, string>>
}
