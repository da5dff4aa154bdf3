import { cidrsIn } from './config/cidrs.ts'
import { resolve } from 'node:path'
import { ConfigError, type ConfigFault } from './config/config-error.ts'
import { Environment, type LogLevel } from './config/environment.ts'
import { readSchedulersFile, type SchedulerConfig } from './config/read-schedulers-file.ts'
import { keyRingOf, type KeyEntries } from './config/key-ring.ts'
import { storeOf, type StoreConfig } from './config/store.ts'
import { nearestName } from './domain/nearest-name.ts'
import { parseBody } from './domain/parse-body.ts'

/** How this process is to work: the whole of what the environment says, checked and with defaults filled in. */
export interface Config {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Absolute. */
  readonly dataDir: string
  /** Null: an embedded PostgreSQL in the data folder. */
  readonly databaseUrl: string | null
  /** Null: the queue is kept in PostgreSQL. */
  readonly redisUrl: string | null
  readonly serve: 'all' | 'api' | 'worker'
  /** Null: embedded, and made at the first start; or a worker, which needs none. */
  readonly apiKey: string | null
  /** Null: `local`, and `docker` if its socket answers. */
  readonly schedulers: readonly SchedulerConfig[] | null
  /** Null: managed drives are kept in a directory of the data folder. */
  readonly store: StoreConfig | null
  /** Null: embedded, and made at the first start; or no secrets. */
  readonly secretKeys: KeyEntries | null
  readonly ambientDrives: readonly string[]
  readonly allowPrivateUrls: boolean
  /** Output of one stream of a replica that is kept; null for all of it. */
  readonly maxLogBytes: number | null
  /** Which ended jobs are kept, by days since the end and by their number in each project; null for all of them. */
  readonly keepJobs: { readonly days: number | null; readonly count: number | null }
  /** Which output of ended jobs is kept, by days since the end and by bytes of each project; null for all of it. */
  readonly keepOutput: { readonly days: number | null; readonly bytes: number | null }
  /** Addresses that webhooks may lead to besides the open internet. */
  readonly webhookAllowCidrs: readonly string[]
  /** Where jobs and people reach the API, without a slash at its end; null if the operator has not said. */
  readonly publicUrl: string | null
  /** Where local jobs reach the API of the process that runs them; null if it has none, or any port. */
  readonly ownUrl: string | null
  /** Of one role. */
  readonly maxMounts: number
  readonly logLevel: LogLevel
  /** What `armCrashPoint` takes; for fault tests only. */
  readonly crashPoint: string | null
}

type Variables = Readonly<Record<string, string | undefined>>

/**
 * Reads the configuration; the only place that looks at the environment. A variable that is set to nothing counts as
 * not set.
 * @throws {ConfigError} with every fault at once
 */
export function readConfig(env: Variables = process.env): Config {
  const given = Object.fromEntries(Object.keys(Environment.shape).map((name) => [name, env[name] || undefined]))
  const read = parseBody(Environment, given)
  const faults: ConfigFault[] = read.ok
    ? faultsTogether(read.value)
    : read.faults.map(({ pointer, detail }) => ({ name: (pointer ?? '').slice(1), detail }))
  const schedulers = gatherFaults(faults, () => (given['BERTH_SCHEDULERS'] ? readSchedulersFile(given['BERTH_SCHEDULERS']) : null))
  faults.push(...misspelt(env))
  if (!read.ok || faults.length > 0) throw new ConfigError(faults)
  return deepFreeze(withDefaults(read.value, schedulers))
}

function withDefaults(read: Environment, schedulers: readonly SchedulerConfig[] | null): Config {
  return {
    host: read.BERTH_HOST ?? '127.0.0.1',
    port: Number(read.BERTH_PORT ?? 8080),
    dataDir: resolve(read.BERTH_DATA_DIR ?? '.berth'),
    databaseUrl: read.DATABASE_URL ?? null,
    redisUrl: read.REDIS_URL ?? null,
    serve: read.BERTH_SERVE ?? 'all',
    apiKey: read.BERTH_API_KEY ?? null,
    schedulers,
    store: storeIn(read),
    secretKeys: read.BERTH_SECRET_KEYS === undefined ? null : keyRingOf(read.BERTH_SECRET_KEYS),
    ambientDrives: namesIn(read.BERTH_AMBIENT_DRIVES),
    allowPrivateUrls: read.BERTH_ALLOW_PRIVATE_URLS === 'true',
    maxLogBytes: logBytesIn(read.BERTH_MAX_LOG_MIB),
    keepJobs: { days: limitIn(read.BERTH_KEEP_DAYS), count: limitIn(read.BERTH_KEEP_JOBS) },
    keepOutput: { days: limitIn(read.BERTH_KEEP_LOG_DAYS), bytes: gibibytesIn(read.BERTH_KEEP_LOG_GIB) },
    webhookAllowCidrs: cidrsIn(read.BERTH_WEBHOOK_ALLOW_CIDRS),
    publicUrl: read.BERTH_PUBLIC_URL?.replace(/\/+$/, '') ?? null,
    ownUrl: ownUrlOf(read),
    maxMounts: Number(read.BERTH_MAX_MOUNTS ?? 32),
    logLevel: read.BERTH_LOG_LEVEL ?? 'info',
    crashPoint: read.BERTH_CRASH_POINT ?? null,
  }
}

const storeIn = ({ BERTH_STORE: url, BERTH_STORE_ACCESS_KEY_ID, BERTH_STORE_SECRET_ACCESS_KEY }: Environment): StoreConfig | null =>
  url === undefined ? null : storeOf(url, { accessKeyId: BERTH_STORE_ACCESS_KEY_ID, secretAccessKey: BERTH_STORE_SECRET_ACCESS_KEY })

/** 0 is without limit. */
const logBytesIn = (text = '1024'): number | null => Number(text) * 1024 * 1024 || null

const gibibytesIn = (text = '0'): number | null => Number(text) * 1024 ** 3 || null

/** 0 is without limit. */
const limitIn = (text = '0'): number | null => Number(text) || null

const namesIn = (list = ''): string[] => list.split(',').map((name) => name.trim()).filter((name) => name !== '')

function ownUrlOf({ BERTH_SERVE: serve, BERTH_HOST: host = '127.0.0.1', BERTH_PORT: port = '8080' }: Environment): string | null {
  if (serve === 'api' || serve === 'worker' || Number(port) === 0) return null
  const address = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
  return `http://${address.includes(':') ? `[${address}]` : address}:${Number(port)}`
}

/** What is right by itself and wrong together. */
function faultsTogether(read: Environment): ConfigFault[] {
  const serve = read.BERTH_SERVE ?? 'all'
  if (read.DATABASE_URL === undefined) {
    const detail = `"${serve}" needs DATABASE_URL: the embedded PostgreSQL serves one process, which must then do "all"`
    return serve === 'all' ? [] : [{ name: 'BERTH_SERVE', detail }]
  }
  if (serve === 'worker' || read.BERTH_API_KEY !== undefined) return []
  const detail = 'is needed with DATABASE_URL, since every API process must know the same; make one with openssl rand -hex 32'
  return [{ name: 'BERTH_API_KEY', detail }]
}

/** A name that is nearly one of ours is a slip, which must not go unseen; others may be anybody's (Kubernetes makes BERTH_SERVICE_HOST). */
function misspelt(env: Variables): ConfigFault[] {
  const known = Object.keys(Environment.shape)
  const unknown = Object.keys(env).filter((name) => name.startsWith('BERTH_') && !known.includes(name))
  return unknown.flatMap((name) => {
    const meant = known.find((other) => withoutPrefix(other) === nearestName(withoutPrefix(name), known.map(withoutPrefix)))
    if (meant === undefined || name.startsWith(`${meant}_`)) return []
    return [{ name, detail: `there is no such variable; did you mean ${meant}?` }]
  })
}

const withoutPrefix = (name: string): string => name.replace(/^BERTH_/, '')

function gatherFaults<T>(faults: ConfigFault[], act: () => T): T | null {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    faults.push(...error.faults)
    return null
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
