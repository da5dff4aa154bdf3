import { OBJECT_KINDS } from './drive.ts'
import type { Capabilities } from '../capabilities.ts'
import type { SchedulerKind } from '../scheduler-kind.ts'

/** What a scheduler of a kind can typically do, for tables of what is possible; a configured one says it of itself. */
export interface SchedulerProfile {
  readonly kind: SchedulerKind
  readonly capabilities: Capabilities
}

const everywhere: Capabilities = {
  mountVia: ['staged', 'scratch', 'reference', 'host_path'],
  stages: OBJECT_KINDS,
  maxStageBytes: null,
  driveDirectories: false,
  apiUrl: 'http://berth.example:8080',
  maxMounts: 32,
  csiDrivers: [],
  hostMounts: [],
  rcloneRemotes: [],
  bindRoots: [{ root: '/srv', readOnly: false }],
  devices: [],
  image: 'required',
  entrypoint: true,
  user: true,
  mountPaths: 'exact',
  limits: ['cpus', 'memoryMiB', 'shmMiB', 'gpus'],
  replicaHostNames: true,
  maxReplicas: 100,
}

const profile = (kind: SchedulerKind, more: Partial<Capabilities>): SchedulerProfile => ({ kind, capabilities: { ...everywhere, ...more } })

const batch = [...everywhere.mountVia, 'efs', 's3files', 'tmpfs'] as const
const cluster = [...everywhere.mountVia, 'claim', 'csi', 'nfs', 'tmpfs'] as const

/** By the name that tables show. */
export const SCHEDULER_PROFILES: Readonly<Record<string, SchedulerProfile>> = {
  local: profile('local', {
    mountVia: ['named_volume', 'host_path', 'drive_directory', 'staged', 'scratch', 'reference', 'tmpfs'],
    driveDirectories: true,
    image: 'unsupported',
    replicaHostNames: false,
  }),
  docker: profile('docker', {
    mountVia: ['named_volume', 'host_path', 'device', 'tmpfs', 'drive_directory', 'staged', 'scratch', 'nfs', 'reference'],
    driveDirectories: true,
  }),
  'docker + rclone': profile('docker', {
    mountVia: ['named_volume', 'host_path', 'tmpfs', 'staged', 'scratch', 'nfs', 'reference', 'rclone_volume'],
    rcloneRemotes: ['s3://', 'gs://', 'az://'].map((source) => ({ source, endpoint: null, remote: `berth-${source.slice(0, 2)}` })),
  }),
  kubernetes: profile('kubernetes', { mountVia: cluster }),
  'kubernetes + CSI': profile('kubernetes', {
    mountVia: cluster,
    csiDrivers: ['s3.csi.aws.com', 'gcsfuse.csi.storage.gke.io', 'blob.csi.azure.com', 'efs.csi.aws.com', 'fsx.csi.aws.com'],
  }),
  'aws_batch (Fargate)': profile('aws_batch', { mountVia: batch.filter((via) => via !== 'host_path' && via !== 'tmpfs'), bindRoots: [] }),
  'aws_batch (EC2)': profile('aws_batch', {
    mountVia: batch,
    hostMounts: [
      { source: 'fsx_lustre://fs-0123456789abcdef0', hostPath: '/mnt/lustre', readOnly: false },
      { source: 'nfs://files.example.org/export', hostPath: '/mnt/nfs', readOnly: true },
    ],
  }),
}
