import type { Capabilities } from '../../../src/domain/capabilities.ts'
import type { JobSpec, Resources, RoleSpec } from '../../../src/domain/job-spec.ts'

export const noLimits: Resources = { cpus: null, memoryMiB: null, shmMiB: null, gpus: null, pids: null }

/** A stored role with nothing asked for but what is given. */
export const aRole = (fields: Partial<RoleSpec> = {}): RoleSpec => ({
  name: 'main',
  image: null,
  entrypoint: null,
  command: ['true'],
  replicas: 1,
  env: {},
  resources: noLimits,
  workingDir: null,
  user: null,
  mounts: [],
  ...fields,
})

/** A stored job of these roles. */
export const aJob = (...roles: readonly RoleSpec[]): JobSpec => ({
  name: 'job',
  scheduler: 'here',
  labels: {},
  queueTimeoutSeconds: null,
  timeoutSeconds: null,
  graceSeconds: 10,
  retries: { max: 0, backoffSeconds: 10 },
  onReplicaFailure: 'cancel_others',
  webhooks: [],
  roles,
})

/** A scheduler that can do everything, but for what is given. */
export const capabilities = (fields: Partial<Capabilities> = {}): Capabilities => ({
  mountVia: ['named_volume', 'host_path', 'device', 'tmpfs'],
  stages: ['managed', 's3', 'gcs', 'http'],
  maxStageBytes: null,
  driveDirectories: true,
  apiUrl: 'http://berth.example:8080',
  maxMounts: 32,
  csiDrivers: [],
  hostMounts: [],
  rcloneRemotes: [],
  bindRoots: [
    { root: '/srv', readOnly: false },
    { root: '/srv/fixed', readOnly: true },
  ],
  devices: ['/dev/fuse'],
  image: 'required',
  entrypoint: true,
  user: true,
  mountPaths: 'exact',
  limits: ['cpus', 'memoryMiB', 'shmMiB', 'gpus', 'pids'],
  replicaHostNames: true,
  maxReplicas: 100,
  ...fields,
})
