import { RESOURCE_LIMITS, type Capabilities } from '../../src/domain/capabilities.ts'

/** A scheduler that can do whatever is asked. */
export const ANYTHING: Capabilities = {
  mountVia: ['named_volume', 'host_path', 'device', 'tmpfs', 'drive_directory', 'staged', 'scratch', 'reference'],
  stages: ['managed', 's3', 'gcs', 'http'],
  maxStageBytes: null,
  driveDirectories: true,
  apiUrl: 'http://berth.example:8080',
  maxMounts: 32,
  csiDrivers: [],
  hostMounts: [],
  rcloneRemotes: [],
  bindRoots: [{ root: '/srv', readOnly: false }],
  devices: ['/dev/null'],
  image: 'unsupported',
  entrypoint: true,
  user: true,
  mountPaths: 'exact',
  limits: [...RESOURCE_LIMITS],
  replicaHostNames: true,
  maxReplicas: 1_000,
}
