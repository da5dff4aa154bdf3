import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { BindRoot, RcloneRemote } from '../domain/capabilities.ts'
import { parseBody } from '../domain/parse-body.ts'
import { ConfigError, type ConfigFault } from './config-error.ts'
import { SchedulersFile } from './schedulers-file.ts'

interface StagingLimits {
  readonly maxStageBytes: number
  readonly stageCacheBytes: number
}

export interface LocalSchedulerConfig extends StagingLimits {
  readonly name: string
  readonly kind: 'local'
  readonly isolation: 'auto' | 'bubblewrap' | 'links'
  readonly bindRoots: readonly BindRoot[]
}

export interface DockerSchedulerConfig extends StagingLimits {
  readonly name: string
  readonly kind: 'docker'
  /** `unix:///…` or `tcp://…` */
  readonly host: string
  readonly bindRoots: readonly BindRoot[]
  readonly devices: readonly string[]
  readonly driveDirectories: boolean
  readonly rclone: RcloneConfig | null
  readonly registries: Readonly<Record<string, RegistryCredentials>>
}

export interface RcloneConfig {
  readonly driver: string
  /** Absolute path of the remote control's socket. */
  readonly control: string
  readonly remotes: readonly RcloneRemote[]
}

export interface RegistryCredentials {
  readonly username: string
  readonly password: string
}

export type SchedulerConfig = LocalSchedulerConfig | DockerSchedulerConfig
type Entry = SchedulersFile['schedulers'][string]
type RegistryEntry = NonNullable<Extract<Entry, { kind: 'docker' }>['registries']>[string]

export const DEFAULT_DOCKER_HOST = 'unix:///var/run/docker.sock'
const MIB = 1024 * 1024
export const DEFAULT_STAGING: StagingLimits = { maxStageBytes: 102_400 * MIB, stageCacheBytes: 10_240 * MIB }
const VARIABLE = 'BERTH_SCHEDULERS'

/** @throws {ConfigError} with every fault of the file */
export function readSchedulersFile(path: string): SchedulerConfig[] {
  const read = parseBody(SchedulersFile, parseJson(path))
  if (!read.ok) {
    throw new ConfigError(read.faults.map(({ pointer, detail }) => ({ name: `${VARIABLE} ${pointer ?? ''}`.trimEnd(), detail })))
  }
  const faults: ConfigFault[] = []
  const passwordOf = (entry: RegistryEntry, pointer: string): string => {
    try {
      return entry.password ?? readFileSync(resolve(dirname(path), entry.passwordFile ?? ''), 'utf8').trim()
    } catch (error) {
      faults.push({ name: `${VARIABLE} ${pointer}/passwordFile`, detail: cannotRead(error) })
      return ''
    }
  }
  const schedulers = Object.entries(read.value.schedulers).map(([name, entry]) => withDefaults(name, entry, passwordOf))
  if (faults.length > 0) throw new ConfigError(faults)
  return schedulers
}

function parseJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new ConfigError([{ name: VARIABLE, detail: error instanceof SyntaxError ? `is not JSON: ${error.message}` : cannotRead(error) }])
  }
}

const cannotRead = (error: unknown): string => `the file cannot be read: ${error instanceof Error ? error.message : String(error)}`

function withDefaults(name: string, entry: Entry, passwordOf: (entry: RegistryEntry, pointer: string) => string): SchedulerConfig {
  const bindRoots = (entry.bindRoots ?? []).map(({ root, readOnly }) => ({ root, readOnly: readOnly ?? true }))
  const staging = {
    maxStageBytes: entry.maxStageMiB === undefined ? DEFAULT_STAGING.maxStageBytes : entry.maxStageMiB * MIB,
    stageCacheBytes: entry.stageCacheMiB === undefined ? DEFAULT_STAGING.stageCacheBytes : entry.stageCacheMiB * MIB,
  }
  if (entry.kind === 'local') return { name, kind: 'local', isolation: entry.isolation ?? 'auto', bindRoots, ...staging }
  const registries = Object.entries(entry.registries ?? {}).map(([host, registry]) => {
    const pointer = `/schedulers/${name}/registries/${host.replaceAll('~', '~0').replaceAll('/', '~1')}`
    return [host, { username: registry.username, password: passwordOf(registry, pointer) }] as const
  })
  const { host = DEFAULT_DOCKER_HOST, devices = [] } = entry
  const driveDirectories = entry.driveDirectories ?? host.startsWith('unix:')
  const remotes = entry.rclone?.remotes.map((each) => ({ ...each, endpoint: each.endpoint ?? null })) ?? []
  const rclone = entry.rclone === undefined ? null : { ...entry.rclone, remotes }
  return {
    name,
    kind: 'docker',
    host,
    bindRoots,
    devices,
    driveDirectories,
    ...staging,
    rclone,
    registries: Object.fromEntries(registries),
  }
}
