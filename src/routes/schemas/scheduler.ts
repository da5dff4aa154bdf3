import { z } from 'zod'
import { DRIVE_KINDS } from '../../domain/drives/drive.ts'
import { RESOURCE_LIMITS } from '../../domain/capabilities.ts'
import { SCHEDULER_KINDS } from '../../domain/scheduler-kind.ts'
import { mountVia } from './mount.ts'
import { time } from './time.ts'

const capabilities = z
  .object({
    mountVia: z.array(mountVia).meta({ description: 'Ways to make a mount.' }),
    stages: z.array(z.enum(DRIVE_KINDS)).meta({ description: 'Kinds of drives whose files can be copied in and out.' }),
    maxStageBytes: z.int().nullable().meta({ description: 'Most that one mount may copy in; null for no bound.' }),
    apiUrl: z.string().nullable().meta({ description: 'Where replicas reach the API, for mounts of mode `api`; null if they do not.' }),
    maxMounts: z.int().meta({ description: 'Most mounts of one role.' }),
    driveDirectories: z.boolean().meta({ description: 'Whether the live directory of a managed drive can be mounted.' }),
    csiDrivers: z.array(z.string()).meta({ description: 'CSI drivers of the cluster.' }),
    hostMounts: z
      .array(
        z
          .object({ source: z.string(), hostPath: z.string(), readOnly: z.boolean() })
          .meta({ id: 'HostMount', description: 'What the operator has mounted on every machine.' }),
      )
      .meta({ description: 'Storage that is mounted already on the machines of the scheduler.' }),
    rcloneRemotes: z
      .array(
        z
          .object({ source: z.string(), endpoint: z.string().nullable(), remote: z.string() })
          .meta({ id: 'RcloneRemote', description: 'What an rclone volume plugin reaches.' }),
      )
      .meta({ description: 'Buckets that can be mounted by rclone.' }),
    bindRoots: z
      .array(
        z.object({ root: z.string(), readOnly: z.boolean() }).meta({ id: 'BindRoot', description: 'A directory that jobs may bind from.' }),
      )
      .meta({ description: 'Empty: every bind is refused.' }),
    devices: z.array(z.string()).meta({ description: 'Devices that jobs may mount.' }),
    image: z.enum(['required', 'unsupported']).meta({ description: 'Whether roles must name an image, or may not.' }),
    entrypoint: z.boolean().meta({ description: 'Whether `entrypoint` means anything.' }),
    user: z.boolean().meta({ description: 'Whether a role may choose its user.' }),
    mountPaths: z.enum(['exact', 'linked']).meta({ description: 'Whether mount paths are honoured exactly.' }),
    limits: z.array(z.enum(RESOURCE_LIMITS)).meta({ description: 'Resources that are enforced.' }),
    replicaHostNames: z.boolean().meta({ description: 'Whether replicas find each other by host name.' }),
    maxReplicas: z.int().meta({ description: 'Most replicas of a job.' }),
  })
  .meta({ id: 'Capabilities', description: 'What a scheduler can do; jobs that need more are refused.' })

const health = z
  .object({ healthy: z.boolean(), detail: z.string(), checkedAt: time })
  .meta({ id: 'SchedulerHealth', description: 'What a worker saw of a scheduler last.' })

export const scheduler = z
  .object({
    name: z.string(),
    kind: z.enum(SCHEDULER_KINDS).meta({ id: 'SchedulerKind', description: 'The kind of place that it is.' }),
    capabilities,
    health: health.nullable().meta({ description: 'null until a worker has looked.' }),
  })
  .meta({ id: 'Scheduler', description: 'A configured place that runs attempts.' })

export const schedulerList = z
  .object({ items: z.array(scheduler) })
  .meta({ id: 'SchedulerList', description: 'All configured schedulers, by name.' })
