import { crashPoint } from '../../crash-point.ts'
import type { Doorbell } from '../../domain/doorbell.ts'
import { giveBack, takeDue } from '../../db/statements/doorbells.ts'
import type { ServiceDeps } from '../service-deps.ts'

const BATCH = 500
const POLL_MS = 1_000

/**
 * The relay: rings for every attempt that is due and that nobody came for, then waits for the next signal, or a second.
 * The attempts' own rows say what is due, so that the queue may lose everything. Ends when told to.
 */
export async function ringDue(deps: ServiceDeps, ring: (doorbells: Doorbell[]) => Promise<void>, stop: AbortSignal): Promise<void> {
  const bell = deps.signals.listen('due')
  while (!stop.aborted) {
    const count = await relay(deps, ring).catch((error: unknown) => {
      deps.log.warn({ err: error }, 'doorbells were not rung; they will be')
      return 0
    })
    if (count < BATCH) await bell.next(POLL_MS, stop)
  }
  bell.close()
}

async function relay(deps: ServiceDeps, ring: (doorbells: Doorbell[]) => Promise<void>): Promise<number> {
  const due = await takeDue(deps.pool, BATCH)
  if (due.length === 0) return 0
  crashPoint('relay.ring.before')
  try {
    await ring(due)
  } catch (error) {
    await giveBack(deps.pool, due)
    throw error
  }
  crashPoint('relay.ring.after')
  return due.length
}
