import { createPostgresBackend, Queue, Worker, type WorkerOptions } from 'bullmq'
import { Redis, type RedisOptions } from 'ioredis'

export type QueueBackend = { readonly kind: 'redis'; readonly url: string } | { readonly kind: 'postgres'; readonly url: string }

/** Makes BullMQ's clients over one of its backends. */
export interface QueueClients {
  producer(): Queue
  consumer(concurrency: number, answer: (attemptId: string) => Promise<void>): Worker
  /**
   * Whether a client goes on by itself after any outage. BullMQ's clients over Postgres do not: one that could not connect at
   * once keeps that answer for ever, and a worker may then ask without end or pause. Such a client is to be replaced.
   */
  readonly recover: boolean
  disconnect(): void
}

/** No call of a producer takes longer. */
export const CALL_MS = 2_000

const NAME = 'attempts'

/** A worker that died is noticed within 15 s; the sweeper is faster, so this only tidies the queue. */
const CONSUMER = {
  lockDuration: 10_000,
  stalledInterval: 5_000,
  maxStalledCount: 1_000,
  runRetryDelay: 1_000,
} as const

/** @param prefix keeps installations apart that share a Redis. */
export function createQueueClients(backend: QueueBackend, prefix: string): QueueClients {
  return backend.kind === 'redis' ? overRedis(backend.url, prefix) : overPostgres(backend.url)
}

/** Producers fail fast; consumers wait for ever, as BullMQ demands. They never share a connection. */
function overRedis(url: string, prefix: string): QueueClients {
  const connections: Redis[] = []
  const connect = (options: RedisOptions): Redis => {
    const connection = new Redis(url, options)
    connection.on('error', () => undefined)
    connections.push(connection)
    return connection
  }
  return {
    recover: true,
    producer: () => {
      const connection = connect({
        enableOfflineQueue: false,
        maxRetriesPerRequest: 1,
        commandTimeout: CALL_MS,
        autoResendUnfulfilledCommands: false,
      })
      return new Queue(NAME, { connection, prefix, skipMetasUpdate: true })
    },
    consumer: (concurrency, answer) => {
      const connection = connect({ maxRetriesPerRequest: null })
      const options: WorkerOptions = { ...CONSUMER, connection, prefix, concurrency }
      return new Worker(NAME, (job) => answer(job.data.attemptId), options)
    },
    disconnect: () => connections.forEach((connection) => connection.disconnect()),
  }
}

function overPostgres(url: string): QueueClients {
  const connection = {
    connectionString: url,
    max: 4,
    migrate: true,
    keepAlive: true,
    connectionTimeoutMillis: 3_000,
    application_name: 'berth-queue',
  }
  return {
    recover: false,
    producer: () => new Queue(NAME, { connection }, createPostgresBackend) as unknown as Queue,
    consumer: (concurrency, answer) =>
      new Worker(
        NAME,
        (job) => answer(job.data.attemptId),
        { ...CONSUMER, connection, concurrency },
        createPostgresBackend,
      ) as unknown as Worker,
    disconnect: () => undefined,
  }
}
