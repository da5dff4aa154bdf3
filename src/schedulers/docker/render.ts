import { createHash } from 'node:crypto'
import type { AttemptReplica, AttemptRole, AttemptSpec } from '../../domain/attempt.ts'
import type { Resources } from '../../domain/job-spec.ts'
import { attemptName, replicaHostName, replicaName } from '../../domain/names.ts'
import type { ContainerCreateBody, DockerContainer, DockerRequest, HostConfig } from './docker-request.ts'
import { LABELS } from './labels.ts'
import { renderMounts, stagedMounts, type MountSettings } from './mounts.ts'

const MIB = 1024 * 1024
/** Where the job asks for no limit: enough for any honest job, too little for a fork bomb. */
const DEFAULT_PIDS = 4096

/**
 * Not `json-file`: that keeps text, so it puts U+FFFD for every byte that is no UTF-8, and cuts characters at 16 KiB. The size
 * must be given, or 20 MiB rotate away what we have not read.
 */
const LOG_CONFIG = { Type: 'local', Config: { 'max-size': '1t', 'max-file': '1', compress: 'false' } } as const

/** Pure and total. Replicas of more than one share a network in which each is known by its host name. */
export function renderAttempt(spec: AttemptSpec, settings: MountSettings = { driveRoot: null, rcloneDriver: null }): DockerRequest {
  const { installation, attemptId, epoch } = spec
  const replicas = spec.roles.reduce((sum, role) => sum + role.replicas.length, 0)
  const network = replicas > 1 ? attemptName(installation, attemptId) : null
  const images = new Set(spec.roles.map((role) => role.image ?? ''))
  return {
    installation,
    attemptId,
    epoch,
    network: network === null ? null : { Name: network, Driver: 'bridge', CheckDuplicate: true, Labels: attemptLabels(spec) },
    images: [...images].sort(),
    containers: spec.roles.flatMap((role) => role.replicas.map((replica) => renderReplica({ spec, role, replica, network, settings }))),
  }
}

interface ReplicaInput {
  readonly spec: AttemptSpec
  readonly role: AttemptRole
  readonly replica: AttemptReplica
  readonly network: string | null
  readonly settings: MountSettings
}

function renderReplica(input: ReplicaInput): DockerContainer {
  const { spec: { installation, attemptId, epoch }, role, replica: { index } } = input
  const create = renderBody(input)
  const hash = createHash('sha256').update(JSON.stringify(create)).digest('hex').slice(0, 16)
  return {
    name: replicaName({ installation, attemptId, role: role.name, index, epoch }),
    role: role.name,
    index,
    create: { ...create, Labels: { ...create.Labels, [LABELS.spec]: hash } },
    staged: stagedMounts(role.mounts),
  }
}

function renderBody({ spec, role, replica, network, settings }: ReplicaInput): ContainerCreateBody {
  const hostName = replicaHostName(role.name, replica.index)
  return {
    Image: role.image ?? '',
    ...(role.entrypoint !== null && { Entrypoint: role.entrypoint }),
    Cmd: replica.command,
    // Sorted, since the order in which a stored object comes back is not ours.
    Env: Object.entries(replica.env).map(([name, value]) => `${name}=${value}`).sort(),
    ...(role.workingDir !== null && { WorkingDir: role.workingDir }),
    ...(role.user !== null && { User: role.user }),
    Hostname: hostName,
    Labels: { ...attemptLabels(spec), [LABELS.role]: role.name, [LABELS.replica]: String(replica.index) },
    StopTimeout: spec.graceSeconds,
    HostConfig: renderHostConfig(role, network, settings),
    ...(network !== null && { NetworkingConfig: { EndpointsConfig: { [network]: { Aliases: [hostName] } } } }),
  }
}

/**
 * All capabilities are dropped, also from root: a root process cannot write to a directory of another user, nor give
 * files away. A restart would be a second start, and an automatic removal would take the outcome with it.
 */
function renderHostConfig(role: AttemptRole, network: string | null, settings: MountSettings): HostConfig {
  return {
    ...renderResources(role.resources),
    PidsLimit: role.resources.pids ?? DEFAULT_PIDS,
    ...renderMounts(role.mounts, settings),
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    Init: true,
    RestartPolicy: { Name: 'no' },
    AutoRemove: false,
    LogConfig: LOG_CONFIG,
    NetworkMode: network ?? 'default',
  }
}

type Limits = Pick<HostConfig, 'NanoCpus' | 'Memory' | 'MemorySwap' | 'ShmSize' | 'DeviceRequests'>

/** Swap would only hide that a job is over its memory: the limit is the same with and without it. */
const renderResources = ({ cpus, memoryMiB, shmMiB, gpus }: Resources): Limits => ({
  ...(cpus !== null && { NanoCpus: Math.round(cpus * 1e9) }),
  ...(memoryMiB !== null && { Memory: memoryMiB * MIB, MemorySwap: memoryMiB * MIB }),
  ...(shmMiB !== null && { ShmSize: shmMiB * MIB }),
  ...(gpus !== null && gpus > 0 && { DeviceRequests: [{ Count: gpus, Capabilities: [['compute', 'utility']] }] }),
})

const attemptLabels = (spec: AttemptSpec): Record<string, string> => ({
  [LABELS.installation]: spec.installation,
  [LABELS.project]: spec.project,
  [LABELS.job]: spec.jobId,
  [LABELS.attempt]: spec.attemptId,
  [LABELS.attemptNumber]: String(spec.attempt),
})
