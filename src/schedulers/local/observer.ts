import { readdir } from 'node:fs/promises'
import type { AttemptObservation, ObservationBatch } from '../../domain/attempt.ts'
import { inLanes } from '../../in-lanes.ts'
import { unlessMissing } from './errors.ts'
import { FolderChanges } from './folder-changes.ts'
import { attemptsFolder, bellsFolder } from './folders.ts'
import type { LocalPlace } from './local-place.ts'
import { readAttempt } from './replica-facts.ts'
import { observeReplica } from './status.ts'
import { killReplica } from './stop-replica.ts'
import { expireTombstones, sweep } from './sweep.ts'

export interface ObservedPlace extends LocalPlace {
  /** Name of this machine, for people. */
  readonly node: string
}

/**
 * Everything first, then what changed: a supervisor rings at the start and at the end, and the living are looked at
 * every second, for one that was killed cannot ring. Ends with the signal.
 */
export async function* observeAttempts(place: ObservedPlace, signal: AbortSignal): AsyncGenerator<ObservationBatch> {
  const changes = new FolderChanges(bellsFolder(place.root))
  const told = new Map<string, string>()
  let nextComplete = 0
  let nextExpiry = 0
  try {
    while (!signal.aborted) {
      if (Date.now() >= nextComplete) {
        nextComplete = Date.now() + COMPLETE_MS
        await sweep(place.root, place.installation).catch(TRY_AGAIN_NEXT_TIME)
        if (Date.now() >= nextExpiry) {
          nextExpiry = Date.now() + EXPIRY_MS
          void expireTombstones(place.root).catch(TRY_AGAIN_NEXT_TIME)
        }
        const attempts = await observeAll(place)
        told.clear()
        for (const attempt of attempts) told.set(attempt.attemptId, JSON.stringify(attempt))
        yield { complete: true, attempts }
        continue
      }
      const rung = await changes.next(LOOK_AGAIN_MS, signal)
      const attempts = await observeSome(place, rung.size > 0 ? [...rung] : livingOf(told))
      const news = attempts.filter((attempt) => told.get(attempt.attemptId) !== JSON.stringify(attempt))
      for (const attempt of news) told.set(attempt.attemptId, JSON.stringify(attempt))
      if (news.length > 0) yield { complete: false, attempts: news }
    }
  } finally {
    changes.close()
  }
}

const COMPLETE_MS = 10_000
const LOOK_AGAIN_MS = 1000
const EXPIRY_MS = 3600_000

/** What cannot be deleted now does no harm, and must not keep anybody from seeing the rest. */
const TRY_AGAIN_NEXT_TIME = (): void => {}

async function observeAll(place: ObservedPlace): Promise<AttemptObservation[]> {
  return observeSome(place, await readdir(attemptsFolder(place.root)).catch(unlessMissing<string[]>([])))
}

async function observeSome(place: ObservedPlace, attemptIds: readonly string[]): Promise<AttemptObservation[]> {
  const attempts = await inLanes(AT_ONCE, attemptIds, (id) => observeAttempt(place, id))
  return attempts.filter(({ replicas }) => replicas.length > 0)
}

/** Keeps the number of open files low, whatever the number of attempts. */
const AT_ONCE = 16

async function observeAttempt({ root, installation, isolation, node }: ObservedPlace, attemptId: string): Promise<AttemptObservation> {
  const facts = await readAttempt(root, attemptId, installation)
  const replicas = await Promise.all(facts.map(async (replica) => {
    const observation = observeReplica(replica, node)
    // Without a sandbox, processes can outlive their supervisor: what is told to be lost must not go on unseen.
    if (isolation === 'links' && observation?.phase === 'lost') await killReplica(replica, { isolation, graceSeconds: 0, signal: NEVER })
    return observation
  }))
  return { attemptId, replicas: replicas.filter((replica) => replica !== null) }
}

const NEVER = new AbortController().signal

const livingOf = (told: ReadonlyMap<string, string>): string[] =>
  [...told].filter(([, attempt]) => /"phase":"(running|pending)"/.test(attempt)).map(([attemptId]) => attemptId)
