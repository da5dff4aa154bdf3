import { createPostgresBackend, DEFAULT_SCHEMA, Queue, runMigrations, Worker, type WorkerOptions } from 'bullmq'
import { Redis, type RedisOptions } from 'ioredis'
import pg from 'pg'
import type { Doorbell } from '../domain/doorbell.ts'

export type QueueBackend = { readonly kind: 'redis'; readonly url: string } | { readonly kind: 'postgres'; readonly url: string }

/** Makes BullMQ's clients over one of its backends. */
export interface QueueClients {
  producer(): Queue
  consumer(concurrency: number, answer: (doorbell: Doorbell) => Promise<void>): Worker
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

/**
 * A connection to Redis that owes an answer for so long is given up. Nobody may have cut it, so that it would be waited for
 * until TCP gives up, about 15 minutes. BullMQ has Redis itself wait for 10 s at most.
 */
const SILENCE_MS = 15_000

/** As for all other queries; queue and database do not know each other. */
const ANSWER_MS = 11_000

/** A worker that died is noticed within 15 s; the sweeper is faster, so this only tidies the queue. */
const CONSUMER = {
  lockDuration: 10_000,
  stalledInterval: 5_000,
  maxStalledCount: 1_000,
  runRetryDelay: 1_000,
} as const

/** Makes what a backend must have before its first client. Safe to repeat, and for many at once. @throws when it cannot be reached */
export async function prepareQueue(backend: QueueBackend): Promise<void> {
  if (backend.kind === 'redis') return
  const client = new pg.Client({ connectionString: backend.url, connectionTimeoutMillis: 3_000, application_name: 'berth-queue' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await runMigrations(client)
  } finally {
    await client.end()
  }
}

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
        socketTimeout: 2 * CALL_MS,
        autoResendUnfulfilledCommands: false,
      })
      return new Queue(NAME, { connection, prefix, skipMetasUpdate: true })
    },
    consumer: (concurrency, answer) => {
      const connection = connect({ maxRetriesPerRequest: null, socketTimeout: SILENCE_MS })
      const options: WorkerOptions = { ...CONSUMER, connection, prefix, concurrency }
      return new Worker(NAME, (job) => answer(job.data), options)
    },
    disconnect: () => connections.forEach((connection) => connection.disconnect()),
  }
}

/** One pool for all, of connections that may break at any time; its schema is that of `prepareQueue`. */
function overPostgres(url: string): QueueClients {
  const pool = new pg.Pool({
    connectionString: url,
    max: 6,
    Client: QuietClient,
    keepAlive: true,
    connectionTimeoutMillis: 3_000,
    query_timeout: ANSWER_MS,
    options: `-c search_path=${DEFAULT_SCHEMA}`,
    application_name: 'berth-queue',
  })
  pool.on('error', () => undefined)
  return {
    recover: false,
    producer: () => new Queue(NAME, { connection: pool }, createPostgresBackend) as unknown as Queue,
    consumer: (concurrency, answer) =>
      new Worker(
        NAME,
        (job) => answer(job.data),
        { ...CONSUMER, connection: pool, concurrency },
        createPostgresBackend,
      ) as unknown as Worker,
    disconnect: () => void pool.end().catch(() => undefined),
  }
}

/** BullMQ takes its listeners off a connection before it ends it: one that breaks at that moment would end the process. */
class QuietClient extends pg.Client {
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    return event === 'error' && this.listenerCount('error') === 0 ? false : super.emit(event, ...values)
  }
}
