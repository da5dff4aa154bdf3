import { orderedPermissions } from './device-permissions.ts'
import { jsonPointer, type Fault } from './fault.ts'
import type { MountBody } from './mount-body.ts'
import { plainPath } from './mount-path.ts'
import { parseMountString } from './mount-string.ts'
import type { Mount } from './mount.ts'
import type { RoleBody } from './role-body.ts'

/** A mount and where the client wrote it: `/roles/0/mounts/1` or `/roles/0/mountStrings/0`. */
export interface PlacedMount {
  readonly mount: Mount
  readonly pointer: string
}

/** All mounts of a role with their defaults: those of `mounts`, then those of `mountStrings`. */
export function roleMounts(role: RoleBody, index: number): { readonly mounts: readonly PlacedMount[]; readonly faults: readonly Fault[] } {
  const mounts = (role.mounts ?? []).map((body, at) => ({ mount: mountOf(body), pointer: jsonPointer(['roles', index, 'mounts', at]) }))
  const faults: Fault[] = []
  for (const [at, text] of (role.mountStrings ?? []).entries()) {
    const pointer = jsonPointer(['roles', index, 'mountStrings', at])
    const read = parseMountString(text)
    if (read.ok) mounts.push(...read.mounts.map((mount) => ({ mount, pointer })))
    else faults.push(...read.flaws.map((flaw) => ({ pointer, ...flaw })))
  }
  return { mounts, faults }
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
  }
}
