import { z } from 'zod'
import { devicePermissionsFlaw } from './device-permissions.ts'
import { DriveMountBody, SourceMountBody } from './drives/drive-mount-body.ts'
import type { Flaw } from './fault.ts'
import { pathFlaw, targetFlaw } from './mount-path.ts'
import type { MountType } from './mount.ts'
import { flaws } from './parse-body.ts'
import { REQUEST_LIMITS } from './request-limits.ts'
import { volumeNameFlaw } from './volume-name.ts'

const target = (type: MountType) => z.string().superRefine(flaws((path: string) => targetFlaw(path, type)))

const access = z.enum(['ro', 'rw']).optional().meta({
  description: '`ro` refuses writing, enforced by the scheduler; `rw` is taken if it is left out.',
})

const hostPath = z.string().superRefine(flaws(pathFlaw))

/** A named volume, as a client writes it. */
export const VolumeMountBody = z
  .strictObject({
    type: z.literal('volume'),
    source: z
      .string()
      .superRefine(flaws(volumeNameFlaw))
      .meta({
        description: 'Name of the volume; it is made at its first use and kept when the job ends.',
        examples: ['foo2'],
      }),
    path: target('volume').meta({ description: 'Where the role sees it: an absolute path.', examples: ['/data'] }),
    access,
  })
  .meta({ id: 'VolumeMountBody', description: 'A volume by name, shared by all jobs of this scheduler that name it.' })

/** A directory or file of the machine, as a client writes it. */
export const BindMountBody = z
  .strictObject({
    type: z.literal('bind'),
    source: hostPath.meta({
      description: 'Absolute path on the machine that runs the replica, under a directory that the operator allows.',
      examples: ['/srv/datasets'],
    }),
    path: target('bind').meta({ description: 'Where the role sees it: an absolute path.', examples: ['/datasets'] }),
    access,
  })
  .meta({ id: 'BindMountBody', description: 'A directory or file of the machine that runs the replica.' })

/** A device of the machine, as a client writes it. */
export const DeviceMountBody = z
  .strictObject({
    type: z.literal('device'),
    source: hostPath.meta({ description: 'Absolute path of the device; one that the operator allows.', examples: ['/dev/fuse'] }),
    path: target('device').optional().meta({ description: 'Where the role sees it; the same path as `source` if it is left out.' }),
    permissions: z
      .string()
      .superRefine(flaws(devicePermissionsFlaw))
      .optional()
      .meta({
        description: 'Some of `r` (read), `w` (write) and `m` (make nodes), each once; `rwm` if it is left out.',
        examples: ['rw'],
      }),
  })
  .superRefine(flaws(impliedPathFlaw))
  .meta({ id: 'DeviceMountBody', description: 'A device of the machine that runs the replica.' })

/** An empty directory in memory, as a client writes it. */
export const TmpfsMountBody = z
  .strictObject({
    type: z.literal('tmpfs'),
    path: target('tmpfs').meta({ description: 'Where the role sees it: an absolute path.', examples: ['/scratch'] }),
    access,
    sizeMiB: z
      .int()
      .min(1)
      .max(REQUEST_LIMITS.memoryMiB)
      .nullish()
      .meta({
        description: 'Upper bound in MiB; left to the scheduler if it is left out or null.',
        examples: [64],
      }),
  })
  .meta({ id: 'TmpfsMountBody', description: 'An empty directory in memory, for each replica its own, gone when it ends.' })

/** A mount as a client writes it, told apart by `type`. */
export const MountBody = z
  .discriminatedUnion('type', [VolumeMountBody, BindMountBody, DeviceMountBody, TmpfsMountBody, DriveMountBody, SourceMountBody], {
    error: (issue) => (typeof issue.input === 'string' ? 'must be an object; mounts in one string go into mountStrings' : undefined),
  })
  .meta({ id: 'MountBody', description: 'Something that a role sees in its file system, told apart by `type`.' })
export type MountBody = z.infer<typeof MountBody>

/** A device that names no path takes the one of its source, which then must do for both. */
function impliedPathFlaw({ source, path }: { readonly source: string; readonly path?: string | undefined }): Flaw | null {
  return path === undefined && pathFlaw(source) === null ? targetFlaw(source, 'device') : null
}
