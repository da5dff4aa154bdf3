import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptHandle } from '../../domain/attempt.ts'
import { endContainer, isAlive } from './end-containers.ts'
import type { Engine } from './engine.ts'
import { findContainers } from './find-containers.ts'

/** Ends all containers of an attempt at once and looks again until none is left that runs, or could begin to. */
export async function cancelAttempt(engine: Engine, attempt: AttemptHandle & { installation: string }, signal: AbortSignal): Promise<void> {
  const { installation, attemptId, graceSeconds } = attempt
  for (;;) {
    const found = await findContainers(engine, { installation, attempt: attemptId }, signal)
    const alive = found.filter(isAlive)
    if (alive.length === 0) return
    await Promise.all(alive.map(({ id, status }) => endContainer({ engine, graceSeconds, signal }, id, status)))
    // What was stopped just now may be listed as running for some milliseconds more.
    await sleep(20, undefined, { signal })
  }
}
