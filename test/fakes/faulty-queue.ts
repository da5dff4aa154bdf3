import type { DoorbellQueue } from '../../src/queue/doorbell-queue.ts'
import type { PortFaults } from './port-faults.ts'

/** A queue over a bad line: doorbells are lost, come late, or twice and in any order, and so do their answers. */
export function faultyQueue(queue: DoorbellQueue, faults: PortFaults): DoorbellQueue {
  return {
    ring: (doorbells) => faults.call(() => queue.ring(doorbells)),
    listen: (concurrency, answer) => queue.listen(concurrency, (doorbell) => faults.call(() => answer(doorbell))),
    ping: () => faults.call(() => queue.ping()),
    close: () => queue.close(),
  }
}
