import type { Queue, Worker } from 'bullmq'
import type { Logger } from 'pino'
import type { Doorbell } from '../domain/doorbell.ts'
import { withDeadline } from './deadline.ts'
import { CALL_MS, createQueueClients, prepareQueue, type QueueBackend, type QueueClients } from './queue-clients.ts'

export { prepareQueue, type QueueBackend }

/** Carries doorbells to whichever worker is free. It may lose, repeat and reorder them: Postgres is the truth. */
export interface DoorbellQueue {
  /** @throws when the queue did not take them all within 2 s; some may have been rung then. */
  ring(doorbells: readonly Doorbell[]): Promise<void>
  /** Hands each doorbell to `answer`, up to `concurrency` at once, until closed. */
  listen(concurrency: number, answer: (doorbell: Doorbell) => Promise<void>): void
  /** @throws when the queue does not answer. */
  ping(): Promise<void>
  /** Takes no more doorbells and waits for the answers under way, 8 s at most, whatever the queue does. */
  close(): Promise<void>
}

const CLOSE_MS = 8_000
const REPLACE_MS = 1_000

/** @param backend prepared by `prepareQueue`. @param prefix keeps installations apart that share a Redis. */
export function createDoorbellQueue(backend: QueueBackend, prefix: string, log: Logger): DoorbellQueue {
  const clients = createQueueClients(backend, prefix)
  const producer = lastingProducer(clients, log)
  const consumers: { close(): Promise<void> }[] = []
  return {
    async ring(doorbells) {
      const jobs = doorbells.map((doorbell) => ({
        name: 'ring',
        data: doorbell,
        opts: { jobId: `${doorbell.attemptId}-${doorbell.ring}`, removeOnComplete: true, removeOnFail: true, attempts: 1 },
      }))
      await producer.call((queue) => queue.addBulk(jobs), 'ringing')
    },
    listen(concurrency, answer) {
      const consume = (): Worker => clients.consumer(concurrency, answer)
      consumers.push(lastingConsumer(consume, clients, log))
    },
    async ping() {
      await producer.call((queue) => queue.getJobCounts('wait'), 'the queue')
    },
    async close() {
      const closing = Promise.allSettled([...consumers.map((consumer) => consumer.close()), producer.close()])
      await withDeadline(closing, CLOSE_MS, 'closing the queue').catch((error: unknown) =>
        log.warn({ err: error }, 'the queue did not close'),
      )
      clients.disconnect()
    },
  }
}

interface LastingProducer {
  call(act: (queue: Queue) => Promise<unknown>, what: string): Promise<void>
  close(): Promise<void>
}

function lastingProducer(clients: QueueClients, log: Logger): LastingProducer {
  const open = (): Queue => {
    const queue = clients.producer()
    queue.on('error', (error) => log.debug({ err: error }, 'the queue is not reachable; the sweeper will ring again'))
    return queue
  }
  let current = open()
  return {
    async call(act, what) {
      const used = current
      try {
        await withDeadline(act(used), CALL_MS, what)
      } catch (error) {
        if (!clients.recover && used === current) {
          current = open()
          used.close().catch(() => undefined)
        }
        throw error
      }
    },
    close: () => current.close(),
  }
}

function lastingConsumer(consume: () => Worker, clients: QueueClients, log: Logger): { close(): Promise<void> } {
  let closed = false
  let current: Worker | undefined
  const open = (): void => {
    if (closed) return
    const worker = consume()
    current = worker
    worker.on('error', (error) => broke(worker, error))
    worker.waitUntilReady().catch((error: unknown) => broke(worker, error))
  }
  const broke = (worker: Worker, error: unknown): void => {
    if (closed || worker !== current) return
    log.debug({ err: error }, 'a queue worker lost its connection')
    if (clients.recover) return
    current = undefined
    // What it is doing goes on; only that it is done will not be told to the queue, which rings once more then.
    worker.close(true).catch(() => undefined)
    setTimeout(open, REPLACE_MS).unref()
  }
  open()
  return {
    async close() {
      closed = true
      await current?.close()
    },
  }
}
