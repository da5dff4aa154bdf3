import type { Capabilities } from '../capabilities.ts'
import type { Flaw } from '../fault.ts'
import type { Candidate, MountPlan } from '../mount-plan.ts'
import type { DriveUse } from '../mount.ts'
import { bindReasons } from '../bind-reasons.ts'
import type { ResolvedMount } from '../resolved-mount.ts'
import type { SchedulerKind } from '../scheduler-kind.ts'
import { driveWays } from './drive-ways.ts'
import { OBJECT_KINDS, type DriveSnapshot } from './drive.ts'
import { optionReasons } from './mount-options.ts'
import type { Way } from './way.ts'

/** Where a drive is to be mounted. */
export interface DrivePlace {
  readonly kind: SchedulerKind
  readonly capabilities: Capabilities
}

/**
 * How a mount of a drive is made on a scheduler. Pure, total and deterministic: the first of its ways, in order of
 * preference, that the asked mode admits, the scheduler has, and that gives no less than what is asked for.
 */
export function resolveDrive(drive: DriveSnapshot, use: DriveUse, place: DrivePlace): ResolvedMount {
  const ways = driveWays({ source: drive.source, drive, use, ...place })
  const tried = ways.map((way) => ({ way, isAdmitted: admits(use, way), reasons: reasonsAgainst(way, { drive, use, place }) }))
  const refusal = accessFlaws(drive, use)
  const taken = refusal.length > 0 ? undefined : tried.find(({ isAdmitted, reasons }) => isAdmitted && reasons.length === 0)
  const candidates = tried.map(({ way, isAdmitted, reasons }): Candidate => {
    const isTaken = way === taken?.way
    return {
      via: way.plan.via,
      mode: way.mode,
      taken: isTaken,
      reason: isTaken ? null : dropped(use, { isAdmitted, reasons: [...refusal, ...reasons] }, taken?.way),
    }
  })
  if (taken !== undefined) return { ok: true, plan: taken.way.plan, candidates, warnings: taken.way.warnings }
  const reasons = [...refusal, ...tried.filter(({ isAdmitted }) => isAdmitted).flatMap(({ reasons: each }) => each)]
  return { ok: false, reasons: reasons.length > 0 ? distinct(reasons) : [noWay(drive, use)], candidates }
}

/** `auto` never means that nothing is mounted, nor a cache that nobody asked for, nor a copy other than the access means. */
function admits({ mode, access }: DriveUse, way: Way): boolean {
  if (mode !== 'auto') return way.mode === mode
  if (way.mode === 'mount') return true
  return way.mode === { ro: 'copy_in', create: 'copy_out', rw: 'copy_in_out' }[access]
}

function accessFlaws(drive: DriveSnapshot, use: DriveUse): Flaw[] {
  // A copy is the job's own: what it does to it never reaches the drive.
  const needed = use.mode === 'copy_in' ? 'ro' : use.access
  const allowed = { ro: ['ro'], create: ['ro', 'create'], rw: ['ro', 'create', 'rw'] }[drive.access]
  if (allowed.includes(needed)) return []
  const name = drive.name === null ? 'the source' : `the drive "${drive.name}"`
  return [{ code: 'access_denied_by_drive', detail: `${name} allows ${allowed.join(' and ')}, not ${needed}` }]
}

interface Situation {
  readonly drive: DriveSnapshot
  readonly use: DriveUse
  readonly place: DrivePlace
}

function reasonsAgainst(way: Way, { drive, use, place: { kind, capabilities } }: Situation): Flaw[] {
  const { plan } = way
  const isThere = capabilities.mountVia.includes(plan.via)
  const absence = { code: 'mount_unsupported', detail: `${kind} schedulers ${WORDS[plan.via] ?? `have no ${plan.via}`}` }
  return [...way.flaws, ...(isThere ? [] : [absence]), ...toolReasons(plan, { drive, use, capabilities }), ...useReasons(way, use)]
}

/** What the way is made by must know this drive. */
function toolReasons(plan: MountPlan, { drive, use, capabilities }: Pick<Situation, 'drive' | 'use'> & Pick<DrivePlace, 'capabilities'>) {
  const { kind } = drive.source
  if (plan.via === 'staged' && !capabilities.stages.includes(kind)) {
    return [{ code: 'staging_unsupported', detail: `this scheduler cannot copy drives of kind ${kind}` }]
  }
  if (plan.via === 'csi' && !capabilities.csiDrivers.includes(plan.driver)) {
    return [{ code: 'csi_driver_missing', detail: `the cluster has no CSI driver ${plan.driver}` }]
  }
  if (plan.via !== 'host_path' || kind !== 'host_path') return []
  return bindReasons(plan.hostPath, use.access === 'ro' ? 'ro' : 'rw', capabilities.bindRoots)
}

/** The way must give what the mount asks for. */
function useReasons({ mode, plan, lacks }: Way, { requires, access, options }: DriveUse): Flaw[] {
  const flaws: Flaw[] = []
  const missing = requires.filter((requirement) => lacks.includes(requirement))
  if (missing.length > 0) flaws.push({ code: 'semantics_missing', detail: `${mode} by ${plan.via} has no ${missing.join(', ')}` })
  if (access === 'create' && !CREATES.includes(mode)) {
    const detail = 'nothing here keeps files from being changed: ask for access rw, or take mode copy_out'
    flaws.push({ code: 'create_unenforced', detail })
  }
  return [...flaws, ...optionReasons(plan, options)]
}

/** Modes that can put files on a drive without changing any; a copy that is only read changes nothing either. */
const CREATES: readonly string[] = ['api', 'copy_out', 'copy_in_out', 'copy_in']

const WORDS: Partial<Record<Way['plan']['via'], string>> = {
  rclone_volume: 'here have no rclone volume driver configured',
  drive_directory: 'cannot mount the directory of a managed drive',
  named_volume: 'have no named volumes',
  claim: 'have no persistent volume claims',
  efs: 'mount no EFS file systems by themselves',
  s3files: 'mount no S3 Files file systems',
  nfs: 'mount no NFS exports by themselves',
  csi: 'have no CSI drivers',
}

function dropped(
  use: DriveUse,
  { isAdmitted, reasons }: { isAdmitted: boolean; reasons: readonly Flaw[] },
  taken: Way | undefined,
): string {
  if (!isAdmitted) return use.mode === 'auto' ? 'mode auto does not take it; ask for it' : `mode ${use.mode} was asked for`
  return reasons.length > 0 ? reasons.map(({ detail }) => detail).join('; ') : `${taken?.plan.via ?? 'another'} comes first`
}

function noWay({ source }: DriveSnapshot, { mode }: DriveUse): Flaw {
  const detail = OBJECT_KINDS.includes(source.kind)
    ? `a drive of kind ${source.kind} cannot be had by mode ${mode} here`
    : `a drive of kind ${source.kind} is a file system: it can only be mounted, not ${mode === 'api' ? 'asked for over HTTP' : mode}`
  return { code: 'mode_unsupported', detail }
}

const distinct = (flaws: readonly Flaw[]): Flaw[] => [...new Map(flaws.map((flaw) => [`${flaw.code} ${flaw.detail}`, flaw])).values()]
