import { z } from 'zod'

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

/** The mount of the examples. */
export const EXAMPLE_MOUNT = { type: 'volume', source: 'foo2', path: '/data', access: 'ro' }

/** A mount as it is stored. */
export const mount = z
  .discriminatedUnion('type', [volumeMount, bindMount, deviceMount, tmpfsMount])
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

const mountPlan = z
  .discriminatedUnion('via', [namedVolumePlan, hostPathPlan, devicePlan, tmpfsPlan])
  .meta({ id: 'MountPlan', description: 'How a mount is made.' })

/** Ways to make a mount. */
export const mountVia = z
  .enum(['named_volume', 'host_path', 'device', 'tmpfs'])
  .meta({ id: 'MountVia', description: 'A way to make a mount.' })

const candidate = z
  .object({
    via: mountVia,
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
  candidates: [{ via: 'named_volume', taken: true, reason: null }],
}

/** How one mount was made real. */
export const resolution = z.object({ role: z.string(), path, access, mount, plan: mountPlan, candidates: z.array(candidate) }).meta({
  id: 'Resolution',
  description: 'How one mount of one role was made real, and what else was considered.',
  examples: [EXAMPLE_RESOLUTION],
})
