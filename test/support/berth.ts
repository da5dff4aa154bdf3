import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDb } from '../../src/db/pool.ts'
import { createSignals } from '../../src/db/signals.ts'
import { newId } from '../../src/domain/id.ts'
import { createLog } from '../../src/log.ts'
import { createDoorbellQueue, prepareQueue, type DoorbellQueue, type QueueBackend } from '../../src/queue/doorbell-queue.ts'
import type { Scheduler } from '../../src/schedulers/scheduler.ts'
import { LogFollowers } from '../../src/services/logs/log-followers.ts'
import type { WorkerDeps } from '../../src/services/worker-deps.ts'
import { createStores } from '../../src/stores/open-stores.ts'
import { ANY_ADDRESS } from '../../src/outbound/address-policy.ts'
import { createWebhookAccess } from '../../src/outbound/webhook-access.ts'
import { startWorker } from '../../src/workers/start-worker.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'

/** What stands between one worker and its ports; nothing if left out. */
export interface WorkerLines {
  readonly scheduler?: (scheduler: Scheduler) => Scheduler
  readonly queue?: (queue: DoorbellQueue) => DoorbellQueue
}

export interface TestBerth {
  readonly deps: WorkerDeps
  readonly database: TestDatabase
  /** Folder of the managed drives. */
  readonly drives: string
  /** Starts one more worker with an identity of its own. Ends with the others. */
  startWorker(lines?: WorkerLines): { stop(): Promise<void> }
  stop(): Promise<void>
}

/** Services over a database of their own, with no worker until one is started. Logs with BERTH_TEST_LOG=debug. */
export async function createTestBerth(
  schedulers: Readonly<Record<string, Scheduler>>,
  backend: (url: string) => QueueBackend = (url) => ({ kind: 'postgres', url }),
): Promise<TestBerth> {
  const database = await createTestDatabase()
  const drives = await mkdtemp(join(tmpdir(), 'berth-drives-'))
  await prepareQueue(backend(database.url))
  const log = createLog(process.env['BERTH_TEST_LOG'] ?? 'silent')
  const signals = createSignals(database.pool, { connectionString: database.url, pulse: { guard: () => undefined } }, log)
  const stop = new AbortController()
  const base = {
    pool: database.pool,
    db: createDb(database.pool),
    schedulers: new Map(Object.entries(schedulers)),
    stores: createStores({ managed: { kind: 'directory', directory: drives }, addresses: ANY_ADDRESS }),
    keyRing: [{ id: 'test', key: Buffer.alloc(32, 7) }],
    ambientDrives: [],
    installation: 'testtest',
    maxLogBytes: 1024 * 1024,
    webhookAccess: createWebhookAccess(['127.0.0.0/8']),
    jobTokenKey: 'test',
    signals,
    log,
  }
  const workers: { stop(): Promise<void> }[] = []
  const identity = (): WorkerDeps => ({
    ...base,
    workerId: newId('wrk'),
    followers: new LogFollowers(base, stop.signal),
    keepJobs: { days: 30, count: null },
    keepOutput: { days: null, bytes: null },
  })
  return {
    deps: identity(),
    database,
    drives,
    startWorker({ scheduler = (direct) => direct, queue = (direct) => direct }: WorkerLines = {}) {
      const own = identity()
      const lines = new Map([...own.schedulers].map(([name, direct]) => [name, scheduler(direct)]))
      const worker = startWorker({ ...own, schedulers: lines }, queue(createDoorbellQueue(backend(database.url), newId('wrk'), log)))
      workers.push(worker)
      return worker
    },
    async stop() {
      stop.abort()
      await Promise.all(workers.map((worker) => worker.stop()))
      await signals.close()
      await database.drop()
      await rm(drives, { recursive: true, force: true })
    },
  }
}
