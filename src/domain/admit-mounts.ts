import type { DriveSnapshot } from './drives/drive.ts'
import { resolveDrive } from './drives/resolve-drive.ts'
import { LINKED_MOUNT_ROOT, type Capabilities } from './capabilities.ts'
import { jsonPointer, type Fault, type Flaw } from './fault.ts'
import type { JobSpec, RoleSpec } from './job-spec.ts'
import type { Resolution } from './mount-plan.ts'
import { isUnder } from './mount-path.ts'
import { MOUNT_MODES, type DriveMount, type Mount, type SourceMount } from './mount.ts'
import { nearestName } from './nearest-name.ts'
import type { MountPointers } from './normalise-job.ts'
import { resolveMount } from './resolve-mount.ts'
import type { ResolvedMount } from './resolved-mount.ts'
import type { SchedulerFacts } from './scheduler-facts.ts'

/** The drives of the project that a job names, as they are now. */
export type Drives = ReadonlyMap<string, DriveSnapshot>

export interface AdmittedMounts {
  /** Of the mounts that can be. */
  readonly resolutions: readonly Resolution[]
  readonly faults: readonly Fault[]
}

/** Every mount of every role, resolved; and every reason against those that cannot be. Pure and total. */
export function admitMounts(
  spec: JobSpec,
  scheduler: SchedulerFacts,
  { drives, pointers }: { drives: Drives; pointers?: MountPointers | undefined },
): AdmittedMounts {
  const all = spec.roles.flatMap((role, roleIndex) =>
    role.mounts.map((mount, at) => {
      const pointer = pointers?.[roleIndex]?.[at] ?? jsonPointer(['roles', roleIndex, 'mounts', at])
      const drive = snapshotOf(mount, drives)
      const resolved = resolve(mount, drive, scheduler)
      const more = [
        ...placeFlaws(mount, scheduler.capabilities),
        ...replicaFlaws(role, mount, { drive, resolved }),
        ...checkpointFlaws(mount),
      ]
      const flaws = resolved.ok
        ? more
        : [...resolved.reasons.map((flaw) => withOtherModes(flaw, otherModes(mount, drive, scheduler))), ...more]
      return { faults: flaws.map((flaw) => ({ pointer, ...flaw })), resolutions: resolutionsOf(role, mount, { drive, resolved }) }
    }),
  )
  return { resolutions: all.flatMap(({ resolutions }) => resolutions), faults: all.flatMap(({ faults }) => faults) }
}

type Snapshot = DriveSnapshot | Flaw | null

/** Null for what is no drive; a flaw for one that is not there. */
function snapshotOf(mount: Mount, drives: Drives): Snapshot {
  if (mount.type === 'source') {
    return { id: null, name: null, version: null, access: 'rw', source: mount.source, credentials: mount.credentials }
  }
  return mount.type === 'drive' ? (drives.get(mount.drive) ?? unknownDrive(mount.drive, [...drives.keys()])) : null
}

function unknownDrive(name: string, known: readonly string[]): Flaw {
  const meant = nearestName(name, known)
  return {
    code: 'unknown_drive',
    detail: `there is no drive "${name}"${meant === null ? '' : `; did you mean "${meant}"?`}: register it by POST /v1/drives`,
  }
}

const isDriveMount = (mount: Mount): mount is DriveMount | SourceMount => mount.type === 'drive' || mount.type === 'source'
const isFlaw = (snapshot: Snapshot): snapshot is Flaw => snapshot !== null && 'code' in snapshot

function resolve(mount: Mount, drive: Snapshot, scheduler: SchedulerFacts): ResolvedMount {
  if (!isDriveMount(mount)) return resolveMount(mount, scheduler.capabilities)
  if (drive === null || isFlaw(drive)) return { ok: false, reasons: drive === null ? [] : [drive], candidates: [] }
  return resolveDrive(drive, mount, scheduler)
}

interface Resolved {
  readonly drive: Snapshot
  readonly resolved: ResolvedMount
}

function resolutionsOf(role: RoleSpec, mount: Mount, { drive, resolved }: Resolved): Resolution[] {
  if (!resolved.ok) return []
  const { plan, candidates, warnings } = resolved
  return [
    { role: role.name, path: mount.path, access: accessOf(mount), mount, plan, candidates, drive: isFlaw(drive) ? null : drive, warnings },
  ]
}

/** A device is written to if its permissions say so. */
const accessOf = (mount: Mount): Resolution['access'] =>
  mount.type === 'device' ? (mount.permissions.includes('w') ? 'rw' : 'ro') : mount.access

function otherModes(mount: Mount, drive: Snapshot, scheduler: SchedulerFacts): readonly string[] {
  if (!isDriveMount(mount) || drive === null || isFlaw(drive)) return []
  return MOUNT_MODES.filter((mode) => mode !== mount.mode && mode !== 'api' && resolveDrive(drive, { ...mount, mode }, scheduler).ok)
}

const withOtherModes = (flaw: Flaw, modes: readonly string[]): Flaw =>
  modes.length === 0 ? flaw : { code: flaw.code, detail: `${flaw.detail}; here mode ${modes.join(' or ')} would do` }

/** A link stands for the mount: it can only lie in the directory made for links, and cannot keep anybody from writing. */
function placeFlaws(mount: Mount, { mountPaths }: Capabilities): Flaw[] {
  if (mountPaths === 'exact' || ('mode' in mount && mount.mode === 'api')) return []
  const { path } = mount
  const flaws: Flaw[] = []
  if (!isUnder(LINKED_MOUNT_ROOT, path)) {
    const detail = `this scheduler can only mount below ${LINKED_MOUNT_ROOT}, as links that $BERTH_MOUNT_ROOT leads to: "${path}" is not`
    flaws.push({ code: 'mount_path_unsupported', detail })
  }
  if (mount.type !== 'device' && mount.access === 'ro') {
    const detail = `this scheduler mounts by links, which cannot keep "${path}" from being written: ask for access "rw"`
    flaws.push({ code: 'read_only_unsupported', detail })
  }
  return flaws
}

/** Replicas that put files at the same place would overwrite each other; and only copies can differ from replica to replica. */
function replicaFlaws(role: RoleSpec, mount: Mount, { resolved }: Resolved): Flaw[] {
  if (!isDriveMount(mount) || !resolved.ok) return []
  const ofReplica = mount.subPath.includes('${replica}')
  const { plan } = resolved
  if (plan.via !== 'staged') {
    return ofReplica
      ? [{ code: 'macro_unsupported', detail: '${replica} works in the subPath of mounts that are copied, not of live ones' }]
      : []
  }
  if (role.replicas === 1 || plan.direction === 'in' || ofReplica) return []
  return [
    {
      code: 'outputs_collide',
      detail: `${role.replicas} replicas would put their files at the same place: give each its own by \${replica} in subPath`,
    },
  ]
}

function checkpointFlaws(mount: Mount): Flaw[] {
  if (!isDriveMount(mount) || mount.outputs.intervalSeconds === null || mount.onConflict !== 'fail') return []
  const detail = 'with outputs.intervalSeconds the second time finds the files of the first: say onConflict "replace" or "keep"'
  return [{ code: 'checkpoints_collide', detail }]
}
