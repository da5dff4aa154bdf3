/** What an attempt becomes on Docker: Engine API bodies and the names that fence them. Plain JSON. */
export interface DockerRequest {
  readonly installation: string
  readonly attemptId: string
  /** The claim that submits it; part of every container name. */
  readonly epoch: number
  /** Shared by the replicas where there is more than one; null for a lone replica. */
  readonly network: NetworkCreateBody | null
  /** Images that must be there, each once. */
  readonly images: readonly string[]
  readonly containers: readonly DockerContainer[]
}

export interface DockerContainer {
  /** `replicaName()`: it ends in the epoch, and is what starts are asked by. */
  readonly name: string
  readonly role: string
  readonly index: number
  readonly create: ContainerCreateBody
  /** Mounts whose files are copied in before the start, or out after the end. */
  readonly staged: readonly StagedMount[]
}

export interface StagedMount {
  readonly path: string
  readonly readOnly: boolean
  readonly direction: 'in' | 'out' | 'in_out'
  /** From a volume that is kept for later jobs, whose name is known only once the files are. */
  readonly cache: boolean
  /** Among the staged mounts of the container, from 0. */
  readonly position: number
}

/** Body of `POST /networks/create`. */
export interface NetworkCreateBody {
  readonly Name: string
  readonly Driver: 'bridge'
  readonly CheckDuplicate: true
  readonly Labels: Readonly<Record<string, string>>
}

/** Body of `POST /containers/create`: no field but these ever reaches the daemon. */
export interface ContainerCreateBody {
  readonly Image: string
  readonly Entrypoint?: readonly string[]
  readonly Cmd: readonly string[]
  readonly Env: readonly string[]
  readonly WorkingDir?: string
  readonly User?: string
  readonly Hostname: string
  readonly Labels: Readonly<Record<string, string>>
  /** Seconds between SIGTERM and SIGKILL when the daemon is asked to stop it without a time. */
  readonly StopTimeout: number
  readonly HostConfig: HostConfig
  readonly NetworkingConfig?: { readonly EndpointsConfig: Readonly<Record<string, { readonly Aliases: readonly string[] }>> }
}

export interface HostConfig {
  readonly NanoCpus?: number
  /** Bytes, as all sizes. */
  readonly Memory?: number
  readonly MemorySwap?: number
  readonly ShmSize?: number
  readonly PidsLimit: number
  readonly DeviceRequests?: readonly { readonly Count: number; readonly Capabilities: readonly (readonly string[])[] }[]
  readonly Mounts?: readonly DockerMount[]
  readonly Devices?: readonly DockerDevice[]
  readonly CapDrop: readonly ['ALL']
  readonly SecurityOpt: readonly ['no-new-privileges']
  readonly Init: true
  readonly RestartPolicy: { readonly Name: 'no' }
  readonly AutoRemove: false
  readonly LogConfig: { readonly Type: 'local'; readonly Config: Readonly<Record<string, string>> }
  readonly NetworkMode: string
}

export type DockerMount =
  | { readonly Type: 'bind'; readonly Source: string; readonly Target: string; readonly ReadOnly: boolean }
  | VolumeMount
  | { readonly Type: 'tmpfs'; readonly Target: string; readonly ReadOnly: boolean; readonly TmpfsOptions?: { readonly SizeBytes: number } }

export interface VolumeMount {
  readonly Type: 'volume'
  /** Without one it is the container's own, and goes with it. */
  readonly Source?: string
  readonly Target: string
  readonly ReadOnly: boolean
  readonly VolumeOptions?: {
    readonly NoCopy?: true
    readonly DriverConfig?: { readonly Name: string; readonly Options: Readonly<Record<string, string>> }
  }
}

export interface DockerDevice {
  readonly PathOnHost: string
  readonly PathInContainer: string
  readonly CgroupPermissions: string
}
