import { createPostgresBackend, Queue, Worker, type WorkerOptions } from 'bullmq'
import { Redis, type RedisOptions } from 'ioredis'
import type { Logger } from 'pino'
import type { Doorbell } from '../domain/doorbell.ts'
import { withDeadline } from './deadline.ts'

/** Carries doorbells to whichever worker is free. It may lose, repeat and reorder them: Postgres is the truth. */
export interface DoorbellQueue {
  /** @throws when the queue did not take them all within 2 s; some may have been rung then. */
  ring(doorbells: readonly Doorbell[]): Promise<void>
  /** Hands each doorbell to `answer`, up to `concurrency` at once, until closed. */
  listen(concurrency: number, answer: (attemptId: string, signal: AbortSignal) => Promise<void>): void
  /** @throws when the queue does not answer. */
  ping(): Promise<void>
  /** Returns within 8 s, whatever the queue does. */
  close(): Promise<void>
}

export type QueueBackend = { readonly kind: 'redis'; readonly url: string } | { readonly kind: 'postgres'; readonly url: string }

const NAME = 'attempts'
const CALL_MS = 2_000
const CLOSE_MS = 8_000

/** A worker that died is noticed within 15 s; the sweeper is faster, so this only tidies the queue. */
const WORKER = {
  lockDuration: 10_000,
  stalledInterval: 5_000,
  maxStalledCount: 1_000,
} as const

/** @param prefix keeps installations apart that share a Redis. */
export function createDoorbellQueue(backend: QueueBackend, prefix: string, log: Logger): DoorbellQueue {
  const open = backend.kind === 'redis' ? redisQueue(backend.url, prefix) : postgresQueue(backend.url)
  const queue = open.queue()
  const workers: Worker[] = []
  const stopped = new AbortController()
  queue.on('error', (error) => log.debug({ err: error }, 'the queue is not reachable; the sweeper will ring again'))

  return {
    async ring(doorbells) {
      const jobs = doorbells.map(({ attemptId, ring }) => ({
        name: 'ring',
        data: { attemptId },
        opts: { jobId: `${attemptId}-${ring}`, removeOnComplete: true, removeOnFail: true, attempts: 1 },
      }))
      await withDeadline(queue.addBulk(jobs), CALL_MS, 'ringing')
    },
    listen(concurrency, answer) {
      const worker = open.worker(concurrency, async (attemptId) => answer(attemptId, stopped.signal))
      worker.on('error', (error) => log.debug({ err: error }, 'a queue worker lost its connection'))
      workers.push(worker)
    },
    async ping() {
      await withDeadline(queue.getJobCounts('wait'), CALL_MS, 'the queue')
    },
    async close() {
      stopped.abort(new Error('this worker is shutting down'))
      const closing = Promise.allSettled([...workers.map((worker) => worker.close()), queue.close()])
      await withDeadline(closing, CLOSE_MS, 'closing the queue').catch((error: unknown) => log.warn({ err: error }, 'the queue did not close'))
      open.disconnect()
    },
  }
}

interface OpenQueue {
  queue(): Queue
  worker(concurrency: number, answer: (attemptId: string) => Promise<void>): Worker
  disconnect(): void
}

/** Producers fail fast; consumers wait for ever, as BullMQ demands. They never share a connection. */
function redisQueue(url: string, prefix: string): OpenQueue {
  const connections: Redis[] = []
  const connect = (options: RedisOptions): Redis => {
    const connection = new Redis(url, options)
    connection.on('error', () => undefined)
    connections.push(connection)
    return connection
  }
  return {
    queue: () => {
      const connection = connect({
        enableOfflineQueue: false,
        maxRetriesPerRequest: 1,
        commandTimeout: CALL_MS,
        autoResendUnfulfilledCommands: false,
      })
      return new Queue(NAME, { connection, prefix, skipWaitingForReady: true, skipMetasUpdate: true })
    },
    worker: (concurrency, answer) => {
      const connection = connect({ maxRetriesPerRequest: null })
      const options: WorkerOptions = { ...WORKER, connection, prefix, concurrency }
      return new Worker(NAME, (job) => answer(job.data.attemptId), options)
    },
    disconnect: () => connections.forEach((connection) => connection.disconnect()),
  }
}

function postgresQueue(url: string): OpenQueue {
  const connection = { connectionString: url, max: 4, migrate: true, keepAlive: true, connectionTimeoutMillis: 3_000 }
  return {
    queue: () => new Queue(NAME, { connection }, createPostgresBackend) as unknown as Queue,
    worker: (concurrency, answer) =>
      new Worker(NAME, (job) => answer(job.data.attemptId), { ...WORKER, connection, concurrency }, createPostgresBackend) as unknown as Worker,
    disconnect: () => undefined,
  }
}
