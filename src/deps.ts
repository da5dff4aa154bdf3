import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import { DEFAULT_DOCKER_HOST, DEFAULT_STAGING, type SchedulerConfig } from './config/read-schedulers-file.ts'
import { findInstallation, findJobTokenKey } from './db/installation.ts'
import { migrate } from './db/migrate.ts'
import { createDb, createPool } from './db/pool.ts'
import { watchPulse } from './db/pulse.ts'
import { createSignals } from './db/signals.ts'
import { newId } from './domain/id.ts'
import { ANY_ADDRESS, openInternetAnd } from './outbound/address-policy.ts'
import { createWebhookAccess } from './outbound/webhook-access.ts'
import { createDoorbellQueue, prepareQueue, type DoorbellQueue } from './queue/doorbell-queue.ts'
import { createDockerScheduler } from './schedulers/docker/docker-scheduler.ts'
import { detectIsolation } from './schedulers/local/detect-isolation.ts'
import { createLocalScheduler } from './schedulers/local/local-scheduler.ts'
import type { Scheduler } from './schedulers/scheduler.ts'
import { keepSecretKey } from './secret-key.ts'
import { createStores, type ManagedPlace } from './stores/open-stores.ts'
import { LogFollowers } from './services/logs/log-followers.ts'
import type { WorkerDeps } from './services/worker-deps.ts'

const POOL_SIZE = 10
const DETECT_MS = 1_000

export interface Deps {
  readonly services: WorkerDeps
  readonly queue: DoorbellQueue
  /** Ends followers, signals and connections, in that order. */
  close(): Promise<void>
}

/** Puts everything together for one process; the only place that knows concrete schedulers. Brings the database up to date. */
export async function createDeps(config: Config, databaseUrl: string, log: Logger): Promise<Deps> {
  const pool = createPool(databaseUrl, POOL_SIZE, log)
  const applied = await migrate(pool)
  if (applied.length > 0) log.info({ migrations: applied }, 'the database is up to date now')
  const installation = await findInstallation(pool)
  const pulse = watchPulse(pool, databaseUrl, log)
  const signals = createSignals(pool, { connectionString: databaseUrl, pulse }, log)
  const stop = new AbortController()
  const base = {
    pool,
    db: createDb(pool),
    schedulers: await createSchedulers(config, installation),
    webhookAccess: createWebhookAccess(config.webhookAllowCidrs),
    stores: createStores({ managed: managedPlace(config), addresses: config.allowPrivateUrls ? ANY_ADDRESS : openInternetAnd([]) }),
    keyRing: config.secretKeys ?? (config.databaseUrl === null ? await keepSecretKey(config.dataDir) : []),
    ambientDrives: config.ambientDrives,
    maxLogBytes: config.maxLogBytes,
    installation,
    jobTokenKey: await findJobTokenKey(pool),
    signals,
    log,
  }
  const { keepJobs, keepOutput } = config
  const services = { ...base, workerId: newId('wrk'), followers: new LogFollowers(base, stop.signal), keepJobs, keepOutput }
  const backend =
    config.redisUrl === null ? ({ kind: 'postgres', url: databaseUrl } as const) : ({ kind: 'redis', url: config.redisUrl } as const)
  await prepareQueue(backend)
  return {
    services,
    queue: createDoorbellQueue(backend, `berth-${installation}`, log),
    async close() {
      stop.abort()
      await signals.close()
      await pulse.close()
      await pool.end()
    },
  }
}

const managedPlace = ({ store, dataDir }: Config): ManagedPlace =>
  store === null ? { kind: 'directory', directory: drivesFolder(dataDir) } : { kind: 's3', ...store, pathStyle: store.endpoint !== null }

const drivesFolder = (dataDir: string): string => join(dataDir, 'drives')

/** Null where managed drives are in a bucket. */
const driveRootOf = ({ store, dataDir }: Config): string | null => (store === null ? drivesFolder(dataDir) : null)

async function createSchedulers(config: Config, installation: string): Promise<Map<string, Scheduler>> {
  const schedulers = new Map<string, Scheduler>()
  for (const entry of config.schedulers ?? (await detectSchedulers(config, installation))) {
    schedulers.set(entry.name, await createScheduler(entry, config, installation))
  }
  return schedulers
}

async function createScheduler(entry: SchedulerConfig, config: Config, installation: string): Promise<Scheduler> {
  switch (entry.kind) {
    case 'docker':
      return createDockerScheduler({
        ...entry,
        installation,
        driveRoot: entry.driveDirectories ? driveRootOf(config) : null,
        apiUrl: config.publicUrl,
        maxMounts: config.maxMounts,
      })
    case 'local':
      return createLocalScheduler({
        installation,
        root: join(config.dataDir, entry.name),
        isolation: entry.isolation === 'auto' ? await detectIsolation() : entry.isolation,
        bindRoots: entry.bindRoots,
        driveRoot: driveRootOf(config),
        apiUrl: config.publicUrl ?? config.ownUrl,
        maxMounts: config.maxMounts,
        maxStageBytes: entry.maxStageBytes,
        stageCacheBytes: entry.stageCacheBytes,
        node: hostname(),
        hidden: [config.dataDir],
      })
  }
}

/** Without a file: this machine's processes, and its Docker if it answers. */
async function detectSchedulers(config: Config, installation: string): Promise<SchedulerConfig[]> {
  const shared = { bindRoots: [], ...DEFAULT_STAGING }
  const local = { name: 'local', kind: 'local', isolation: 'auto', ...shared } as const
  const docker = {
    name: 'docker',
    kind: 'docker',
    host: DEFAULT_DOCKER_HOST,
    devices: [],
    driveDirectories: true,
    rclone: null,
    registries: {},
    ...shared,
  } as const
  const scheduler = await createScheduler(docker, config, installation)
  const answers = await scheduler.health(AbortSignal.timeout(DETECT_MS))
    .then(
      () => true,
      () => false,
    )
  return answers ? [local, docker] : [local]
}
