import { z } from 'zod'
import { ON_REPLICA_FAILURE } from '../../domain/job-spec.ts'
import { EXAMPLE_MOUNT, mount } from './mount.ts'

/** Label keys and values. */
export const labels = z
  .record(z.string(), z.string())
  .meta({ description: 'Keys and values of the owner.', examples: [{ team: 'vision' }] })

const resources = z
  .object({
    cpus: z.number().nullable().meta({ description: 'May be a fraction.' }),
    memoryMiB: z.int().nullable(),
    shmMiB: z.int().nullable().meta({ description: 'Size of /dev/shm.' }),
    gpus: z.int().nullable(),
    pids: z.int().nullable().meta({ description: 'Most processes at once.' }),
  })
  .meta({ id: 'Resources', description: 'Limits of each replica; null asks for none.' })

const roleSpec = z
  .object({
    name: z.string(),
    image: z.string().nullable(),
    entrypoint: z.array(z.string()).nullable().meta({ description: 'Replaces that of the image; null keeps it.' }),
    command: z.array(z.string()),
    replicas: z.int(),
    env: z.record(z.string(), z.string()),
    resources,
    workingDir: z.string().nullable(),
    user: z.string().nullable().meta({ description: 'null keeps that of the image.' }),
    mounts: z.array(mount),
  })
  .meta({ id: 'RoleSpec', description: 'A group of equal replicas.' })

const retryPolicy = z
  .object({
    max: z.int().meta({ description: 'Further attempts after the first.' }),
    backoffSeconds: z.number().meta({ description: 'Wait before the second attempt; doubled for each further one, up to 10 minutes.' }),
  })
  .meta({ id: 'RetryPolicy', description: 'When a failed job is tried again.' })

/** The job of the examples, as it is stored. */
export const EXAMPLE_SPEC = {
  name: 'train',
  scheduler: 'local',
  labels: { team: 'vision' },
  queueTimeoutSeconds: null,
  timeoutSeconds: 3600,
  graceSeconds: 10,
  retries: { max: 2, backoffSeconds: 10 },
  onReplicaFailure: 'cancel_others',
  webhooks: [],
  roles: [
    {
      name: 'trainer',
      image: null,
      entrypoint: null,
      command: ['sh', '-c', 'ls /data'],
      replicas: 2,
      env: { A: 'b' },
      resources: { cpus: 1, memoryMiB: 512, shmMiB: null, gpus: null, pids: null },
      workingDir: null,
      user: null,
      mounts: [EXAMPLE_MOUNT],
    },
  ],
}

/** A job as it is stored. */
export const jobSpec = z
  .object({
    name: z.string(),
    scheduler: z.string(),
    labels,
    queueTimeoutSeconds: z
      .number()
      .nullable()
      .meta({ description: 'Longest wait of one attempt until a replica runs; null is without limit.' }),
    timeoutSeconds: z.number().nullable().meta({ description: 'Longest run of one attempt; null is without limit.' }),
    graceSeconds: z.number().meta({ description: 'Between the polite signal and the kill.' }),
    retries: retryPolicy,
    onReplicaFailure: z.enum(ON_REPLICA_FAILURE).meta({ description: 'Whether the first failed replica ends the others.' }),
    webhooks: z.array(z.string()).meta({ description: 'Names of webhooks that are told of it in any case.' }),
    roles: z.array(roleSpec),
  })
  .meta({
    id: 'JobSpec',
    description: 'What was asked for, with every default filled in and mount strings as objects. Never changes.',
    examples: [EXAMPLE_SPEC],
  })
