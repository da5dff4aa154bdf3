import { setTimeout as sleep } from 'node:timers/promises'
import { giveBackDelivery, takeDeliveries, type DueDelivery } from '../../db/statements/deliveries.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { sendDelivery } from './send-delivery.ts'

/** Messages that one worker has on their way at once: of one webhook never more than a few, so that dead ones do not fill it. */
const MOST = 128
const POLL_MS = 1_000
/** What is on its way at a stop may take this long to arrive; then it is given back. */
const DRAIN_MS = 4_000

/**
 * Sends what is due, then waits for the next signal, the end of something, or a second. The rows say what is due, so that
 * whatever is lost here is sent again. Ends when told to.
 */
export async function deliverDue(deps: ServiceDeps, stop: AbortSignal): Promise<void> {
  const bell = deps.signals.listen('webhooks')
  const giveUp = new AbortController()
  const underWay = new Set<Promise<void>>()
  let ring: Promise<void> | null = null
  while (!stop.aborted) {
    const taken = underWay.size < MOST ? await take(deps, MOST - underWay.size) : []
    for (const delivery of taken) {
      const sending = deliver(deps, delivery, giveUp.signal).finally(() => underWay.delete(sending))
      underWay.add(sending)
    }
    if (taken.length > 0) continue
    ring ??= bell.next(POLL_MS, stop).finally(() => (ring = null))
    await Promise.race([ring, ...underWay])
  }
  bell.close()
  await Promise.race([Promise.all(underWay), sleep(DRAIN_MS, undefined, { ref: false })])
  giveUp.abort(new Error('this worker is shutting down'))
  await Promise.all(underWay)
}

async function take(deps: ServiceDeps, most: number): Promise<DueDelivery[]> {
  return takeDeliveries(deps.pool, most).catch(async (error: unknown) => {
    deps.log.warn({ err: error }, 'messages of webhooks were not taken up; they will be')
    await sleep(POLL_MS)
    return []
  })
}

async function deliver(deps: ServiceDeps, delivery: DueDelivery, signal: AbortSignal): Promise<void> {
  try {
    await sendDelivery(deps, delivery, signal)
  } catch (error) {
    if (signal.aborted) await giveBackDelivery(deps.pool, delivery).catch(() => undefined)
    else deps.log.warn({ err: error, delivery: delivery.id }, 'what became of a message was not stored; it will be sent again')
  }
}
