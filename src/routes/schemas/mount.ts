import { z } from 'zod'
import { DRIVE_ACCESS } from '../../domain/drives/drive.ts'
import { MOUNT_MODES, OPTIMIZATIONS, REQUIREMENTS } from '../../domain/mount.ts'
import { driveSource } from './drive-source.ts'

const access = z.enum(['ro', 'rw']).meta({ id: 'Access', description: 'Whether the role may write.' })
const path = z.string().meta({ description: 'Where the role sees it.' })

const volumeMount = z
  .object({ type: z.literal('volume'), source: z.string().meta({ description: 'Name of the volume.' }), path, access })
  .meta({ id: 'VolumeMount', description: 'A named volume of the scheduler.' })

const bindMount = z
  .object({ type: z.literal('bind'), source: z.string().meta({ description: 'Path on the machine of the replica.' }), path, access })
  .meta({ id: 'BindMount', description: 'A directory or file of the machine that runs the replica.' })

const deviceMount = z
  .object({
    type: z.literal('device'),
    source: z.string().meta({ description: 'Path of the device on the machine of the replica.' }),
    path,
    permissions: z.string().meta({ description: 'A subset of `rwm`: read, write, mknod.' }),
  })
  .meta({ id: 'DeviceMount', description: 'A device of the machine that runs the replica.' })

const tmpfsMount = z
  .object({
    type: z.literal('tmpfs'),
    path,
    access,
    sizeMiB: z.int().nullable().meta({ description: 'Upper bound; null leaves it to the scheduler.' }),
  })
  .meta({ id: 'TmpfsMount', description: 'Memory as a file system, gone with the replica.' })

const use = {
  path,
  mode: z.enum(MOUNT_MODES).meta({ id: 'MountMode', description: 'How the role sees the drive.' }),
  access: z.enum(DRIVE_ACCESS),
  subPath: z.string().meta({ description: 'Which part of the drive; empty for all of it.' }),
  optimization: z.enum(OPTIMIZATIONS),
  immutable: z.boolean(),
  maxStalenessSeconds: z.int().nullable(),
  requires: z.array(z.enum(REQUIREMENTS)),
  onConflict: z.enum(['fail', 'replace', 'keep']),
  outputs: z
    .object({
      include: z.array(z.string()),
      exclude: z.array(z.string()),
      when: z.enum(['success', 'always', 'failure']),
      symlinks: z.enum(['skip', 'follow', 'fail']),
      intervalSeconds: z.int().nullable(),
    })
    .meta({ id: 'Outputs', description: 'What is taken out of the mount, and when.' }),
  options: z.record(z.string(), z.string()),
  allowNested: z.boolean(),
}

const driveMount = z
  .object({ type: z.literal('drive'), drive: z.string().meta({ description: 'Name of the drive.' }), ...use })
  .meta({ id: 'DriveMount', description: 'A registered drive.' })

const credentials = z
  .discriminatedUnion('method', [
    z.object({ method: z.literal('none') }),
    z.object({ method: z.literal('secret'), secret: z.string() }),
    z.object({ method: z.literal('ambient') }),
  ])
  .nullable()

const sourceMount = z
  .object({ type: z.literal('source'), source: driveSource, credentials, ...use })
  .meta({ id: 'SourceMount', description: 'Storage that is not registered as a drive.' })

/** The mount of the examples. */
export const EXAMPLE_MOUNT = { type: 'volume', source: 'foo2', path: '/data', access: 'ro' }

/** A mount as it is stored. */
export const mount = z
  .discriminatedUnion('type', [volumeMount, bindMount, deviceMount, tmpfsMount, driveMount, sourceMount])
  .meta({ id: 'Mount', description: 'What a role asks to see in its file system, with every default filled in.' })

const readOnly = z.boolean()

const namedVolumePlan = z
  .object({ via: z.literal('named_volume'), volume: z.string(), path, readOnly })
  .meta({ id: 'NamedVolumePlan', description: 'Made as a named volume.' })

const hostPathPlan = z
  .object({ via: z.literal('host_path'), hostPath: z.string(), path, readOnly })
  .meta({ id: 'HostPathPlan', description: 'Made as a path of the host.' })

const devicePlan = z
  .object({ via: z.literal('device'), hostPath: z.string(), path, permissions: z.string() })
  .meta({ id: 'DevicePlan', description: 'Made as a device of the host.' })

const tmpfsPlan = z
  .object({ via: z.literal('tmpfs'), path, sizeMiB: z.int().nullable(), readOnly })
  .meta({ id: 'TmpfsPlan', description: 'Made as memory.' })

const strings = z.record(z.string(), z.string())

const OTHER_PLANS = [
  z
    .object({
      via: z.literal('reference'),
      path,
      url: z.string().meta({ description: 'Of the objects of the drive.' }),
      prefix: z.string().meta({ description: 'Directory of the drive that the token is good for.' }),
    })
    .meta({ id: 'ReferencePlan', description: 'Not in the file system: a reference and a token in BERTH_DRIVES.' }),
  z
    .object({ via: z.literal('staged'), path, readOnly, direction: z.enum(['in', 'out', 'in_out']), cache: z.boolean() })
    .meta({ id: 'StagedPlan', description: 'A directory of the attempt, filled before the start, taken out after the end, or both.' }),
  z
    .object({ via: z.literal('scratch'), path, sizeMiB: z.int().nullable() })
    .meta({ id: 'ScratchPlan', description: 'An empty directory.' }),
  z
    .object({ via: z.literal('drive_directory'), driveId: z.string(), subPath: z.string(), path, readOnly })
    .meta({ id: 'DriveDirectoryPlan', description: 'The live directory of a managed drive.' }),
  z
    .object({ via: z.literal('nfs'), server: z.string(), export: z.string(), options: z.array(z.string()), path, readOnly })
    .meta({ id: 'NfsPlan', description: 'An NFS export.' }),
  z
    .object({
      via: z.literal('rclone_volume'),
      remote: z.string(),
      bucketPath: z.string(),
      cacheMode: z.enum(['off', 'writes', 'full']),
      cacheMiB: z.int().nullable(),
      options: strings,
      path,
      readOnly,
    })
    .meta({ id: 'RclonePlan', description: 'A bucket through an rclone volume driver.' }),
  z
    .object({ via: z.literal('claim'), claimName: z.string(), subPath: z.string(), path, readOnly })
    .meta({ id: 'ClaimPlan', description: 'A persistent volume claim.' }),
  z
    .object({
      via: z.literal('csi'),
      driver: z.string(),
      volumeHandle: z.string(),
      attributes: strings,
      mountOptions: z.array(z.string()),
      path,
      readOnly,
    })
    .meta({ id: 'CsiPlan', description: 'A volume of a CSI driver.' }),
  z
    .object({
      via: z.literal('efs'),
      fileSystemId: z.string(),
      accessPointId: z.string().nullable(),
      rootDirectory: z.string(),
      path,
      readOnly,
    })
    .meta({ id: 'EfsPlan', description: 'An EFS file system.' }),
  z
    .object({
      via: z.literal('s3files'),
      fileSystemArn: z.string(),
      accessPointArn: z.string().nullable(),
      rootDirectory: z.string(),
      path,
      readOnly,
    })
    .meta({ id: 'S3FilesPlan', description: 'An S3 Files file system.' }),
] as const

const mountPlan = z
  .discriminatedUnion('via', [namedVolumePlan, hostPathPlan, devicePlan, tmpfsPlan, ...OTHER_PLANS])
  .meta({ id: 'MountPlan', description: 'How a mount is made.' })

/** Ways to make a mount. */
export const mountVia = z
  .enum([
    'named_volume',
    'host_path',
    'device',
    'tmpfs',
    'reference',
    'staged',
    'scratch',
    'drive_directory',
    'nfs',
    'rclone_volume',
    'claim',
    'csi',
    'efs',
    's3files',
  ])
  .meta({ id: 'MountVia', description: 'A way to make a mount.' })

const candidate = z
  .object({
    via: mountVia,
    mode: z.enum(['api', 'mount', 'cached', 'copy_in', 'copy_out', 'copy_in_out']),
    taken: z.boolean(),
    reason: z.string().nullable().meta({ description: 'Why it was dropped; null for the one that was taken.' }),
  })
  .meta({ id: 'MountCandidate', description: 'A way that was considered for a mount.' })

/** How the mount of the examples was made real. */
export const EXAMPLE_RESOLUTION = {
  role: 'trainer',
  path: '/data',
  access: 'ro',
  mount: EXAMPLE_MOUNT,
  plan: { via: 'named_volume', volume: 'foo2', path: '/data', readOnly: true },
  candidates: [{ via: 'named_volume', mode: 'mount', taken: true, reason: null }],
  drive: null,
  warnings: [],
}

const snapshot = z
  .object({
    id: z.string().nullable(),
    name: z.string().nullable(),
    version: z.int().nullable(),
    access: z.enum(DRIVE_ACCESS),
    source: driveSource,
    credentials,
  })
  .meta({
    id: 'DriveSnapshot',
    description: 'A drive as it was when the job was submitted; id, name and version are null for one that is not registered.',
  })

/** How one mount was made real. */
export const resolution = z
  .object({
    role: z.string(),
    path,
    access: z.enum(DRIVE_ACCESS),
    mount,
    plan: mountPlan,
    candidates: z.array(candidate),
    drive: snapshot.nullable().meta({ description: 'null for mounts that are not of a drive.' }),
    warnings: z.array(z.string()).meta({ description: 'What was weakened, or could surprise.' }),
  })
  .meta({
    id: 'Resolution',
    description: 'How one mount of one role was made real, and what else was considered.',
    examples: [EXAMPLE_RESOLUTION],
  })
