import { crashPoint } from '../../crash-point.ts'
import type { Doorbell } from '../../domain/doorbell.ts'
import { relayDoorbells } from '../../db/statements/doorbells.ts'
import type { ServiceDeps } from '../service-deps.ts'

const BATCH = 200
const POLL_MS = 1_000

/** Rings for whatever the outbox holds, then waits for the next signal, or a second. Ends when told to. */
export async function relayOutbox(deps: ServiceDeps, ring: (doorbells: Doorbell[]) => Promise<void>, stop: AbortSignal): Promise<void> {
  const bell = deps.signals.listen('outbox')
  while (!stop.aborted) {
    const count = await relayDoorbells(deps.pool, BATCH, async (doorbells) => {
      crashPoint('relay.ring.before')
      await ring(doorbells)
      crashPoint('relay.ring.after')
    }).catch((error: unknown) => {
      deps.log.warn({ err: error }, 'doorbells were not relayed; they stay in the outbox')
      return 0
    })
    if (count < BATCH) await bell.next(POLL_MS, stop)
  }
  bell.close()
}
