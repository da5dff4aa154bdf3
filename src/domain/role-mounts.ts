import { orderedPermissions } from './device-permissions.ts'
import { normaliseDriveMount, normaliseSourceMount } from './drives/normalise-use.ts'
import type { Flaw } from './fault.ts'
import type { MountBody } from './mount-body.ts'
import { plainPath } from './mount-path.ts'
import { parseMountString } from './mount-string.ts'
import type { Mount } from './mount.ts'

/** The two fields of a role that make mounts, as a client writes them. */
export interface RoleMountsBody {
  readonly mounts?: readonly MountBody[] | undefined
  readonly mountStrings?: readonly string[] | undefined
}

/** A mount, and where in the role the client wrote it: `['mounts', 1]` or `['mountStrings', 0]`. */
export interface PlacedMount {
  readonly mount: Mount
  readonly at: readonly PropertyKey[]
}

export interface RoleMounts {
  readonly mounts: readonly PlacedMount[]
  /** Of mount strings that cannot be read. */
  readonly flaws: readonly (Flaw & { readonly path: readonly PropertyKey[] })[]
}

/** All mounts of a role with their defaults: those of `mounts`, then those of `mountStrings`. */
export function roleMounts(role: RoleMountsBody): RoleMounts {
  const objects = (role.mounts ?? []).map((body, index) => ({ mount: mountOf(body), at: ['mounts', index] }))
  const strings = (role.mountStrings ?? []).map((text, index) => ({ read: parseMountString(text), at: ['mountStrings', index] }))
  return {
    mounts: [...objects, ...strings.flatMap(({ read, at }) => (read.ok ? read.mounts.map((mount) => ({ mount, at })) : []))],
    flaws: strings.flatMap(({ read, at }) => (read.ok ? [] : read.flaws.map((flaw) => ({ ...flaw, path: at })))),
  }
}

function mountOf(body: MountBody): Mount {
  switch (body.type) {
    case 'volume':
      return { type: 'volume', source: body.source, path: plainPath(body.path), access: body.access ?? 'rw' }
    case 'bind':
      return { type: 'bind', source: plainPath(body.source), path: plainPath(body.path), access: body.access ?? 'rw' }
    case 'device': {
      const permissions = orderedPermissions(body.permissions ?? 'rwm')
      return { type: 'device', source: plainPath(body.source), path: plainPath(body.path ?? body.source), permissions }
    }
    case 'tmpfs':
      return { type: 'tmpfs', path: plainPath(body.path), access: body.access ?? 'rw', sizeMiB: body.sizeMiB ?? null }
    case 'drive':
      return normaliseDriveMount(body)
    case 'source':
      return normaliseSourceMount(body)
  }
}
