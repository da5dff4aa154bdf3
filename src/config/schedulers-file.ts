import { posix } from 'node:path'
import { z } from 'zod'

const isPlainPath = (path: string): boolean => path.startsWith('/') && posix.normalize(path) === path

const absolutePath = (description: string) =>
  z.string().refine(isPlainPath, { error: 'must be an absolute path without . or .. or a slash too many' }).meta({ description })

const BindRootEntry = z.strictObject({
  root: absolutePath('Folder of the machine that runs the jobs; it and everything below may be mounted.'),
  readOnly: z.boolean().optional().meta({ description: 'Only mounts with access `ro` are allowed. Default `true`.' }),
})

const RegistryEntry = z
  .strictObject({
    username: z.string().min(1).meta({ description: 'User at the registry.' }),
    password: z.string().min(1).optional().meta({ description: 'Password or token. Prefer `passwordFile`.' }),
    passwordFile: z.string().min(1).optional().meta({ description: "File that holds it; a relative path starts at this file's folder." }),
  })
  .refine(({ password, passwordFile }) => (password === undefined) !== (passwordFile === undefined), {
    error: 'must have either a password or a passwordFile',
  })

const bindRoots = z
  .array(BindRootEntry)
  .optional()
  .meta({ description: 'Folders that `bind` mounts may come from. Default none: every bind is refused.' })

const staging = {
  maxStageMiB: z.int().min(1).optional().meta({ description: 'Most that one mount may copy in, in MiB. Default 102400 (100 GiB).' }),
  stageCacheMiB: z.int().min(0).optional().meta({ description: 'Most that copies kept for later jobs may take, in MiB. Default 10240.' }),
}

const RcloneEntry = z
  .strictObject({
    driver: z.string().min(1).meta({ description: 'Name of the volume plugin: `rclone serve docker` has that of its socket.' }),
    control: absolutePath(
      "Socket of the plugin's remote control (`--rc-addr unix://…`); it says when all that was written is in the bucket.",
    ),
    remotes: z
      .array(
        z.strictObject({
          source: z
            .string()
            .regex(/^(s3|gs|az):\/\/([^/]+\/(.+\/)?)?$/, {
              error: 'must be s3://bucket/ or s3://bucket/prefix/, or the same with gs or az',
            })
            .meta({
              description: 'What may be mounted by it, by everybody who may register drives: `s3://bucket/`, `s3://bucket/prefix/`.',
            }),
          endpoint: z.string().min(1).optional().meta({ description: 'Of drives on a compatible server. Default: none.' }),
          remote: z
            .string()
            .regex(/^[A-Za-z0-9_-]+$/, { error: "must be a name of the plugin's configuration" })
            .meta({ description: "Name in the plugin's own configuration, which has the credentials." }),
        }),
      )
      .min(1)
      .meta({ description: 'Buckets that the plugin reaches.' }),
  })
  .meta({ description: 'An rclone volume plugin of the daemon, for live mounts of buckets. Default none.' })

export const DockerSchedulerEntry = z.strictObject({
  kind: z.literal('docker'),
  host: z
    .string()
    .regex(/^(unix:\/\/\/.+|tcp:\/\/(localhost|127\.[\d.]+|\[::1\]):\d+)$/, {
      error: 'must be unix:///path/of/docker.sock or tcp://127.0.0.1:PORT',
    })
    .optional()
    .meta({ description: 'Address of the daemon: a Unix socket, or TCP on loopback. Default `unix:///var/run/docker.sock`.' }),
  bindRoots,
  devices: z
    .array(absolutePath('Device of the machine that runs the daemon.'))
    .optional()
    .meta({ description: 'Devices that `device` mounts may name. Default none.' }),
  ...staging,
  driveDirectories: z.boolean().optional().meta({
    description:
      'Whether the daemon sees the data folder at the same path, so that managed drives can be mounted live. Default: on a Unix socket.',
  }),
  rclone: RcloneEntry.optional(),
  registries: z
    .record(z.string().min(1), RegistryEntry)
    .optional()
    .meta({ description: 'Credentials by registry host, such as `registry.example.com` or `localhost:5000`. Default none.' }),
})

export const LocalSchedulerEntry = z.strictObject({
  kind: z.literal('local'),
  isolation: z.enum(['auto', 'bubblewrap', 'links']).optional().meta({
    description:
      'How mounts are made: by `bubblewrap`, by `links` in the work directory, or `auto`: bubblewrap if it works. Default `auto`.',
  }),
  bindRoots,
  ...staging,
})

/** The file that BERTH_SCHEDULERS names. docs/configuration.md is written from here. */
export const SchedulersFile = z.strictObject({
  schedulers: z
    .record(
      z.string().regex(/^[a-z][a-z0-9-]{0,62}$/, {
        error: 'is not a scheduler name: up to 63 lower-case letters, digits and hyphens, a letter first',
      }),
      z.discriminatedUnion('kind', [LocalSchedulerEntry, DockerSchedulerEntry]),
    )
    .refine((schedulers) => Object.keys(schedulers).length > 0, { error: 'must name at least one scheduler' }),
})

export type SchedulersFile = z.infer<typeof SchedulersFile>
