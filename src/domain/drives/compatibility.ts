import { MOUNT_MODES, type DriveUse, type MountMode } from '../mount.ts'
import type { SchedulerFacts } from '../scheduler-facts.ts'
import { DRIVE_ACCESS, type DriveAccess, type DriveSnapshot } from './drive.ts'
import { resolveDrive } from './resolve-drive.ts'

/** What one mode, with one access, comes to on one scheduler. */
export interface CompatibilityCell {
  readonly mode: MountMode
  readonly access: DriveAccess
  /** How it would be made; null if it cannot be. */
  readonly via: string | null
  readonly reasons: readonly string[]
  readonly warnings: readonly string[]
}

/** A mount of all of a drive, with nothing asked for beyond mode and access. */
export const plainUse = (mode: MountMode, access: DriveAccess): DriveUse => ({
  path: '/data',
  mode,
  access,
  subPath: '',
  optimization: 'default',
  immutable: false,
  maxStalenessSeconds: null,
  requires: [],
  onConflict: access === 'create' ? 'fail' : 'replace',
  outputs: { include: [], exclude: [], when: 'success', symlinks: 'skip', intervalSeconds: null },
  options: {},
  allowNested: false,
})

/** Every mode and access of a drive on a scheduler. */
export function compatibilityOf(drive: DriveSnapshot, scheduler: Omit<SchedulerFacts, 'name'>): readonly CompatibilityCell[] {
  return MOUNT_MODES.flatMap((mode) =>
    DRIVE_ACCESS.map((access): CompatibilityCell => {
      const resolved = resolveDrive(drive, plainUse(mode, access), scheduler)
      return resolved.ok
        ? { mode, access, via: resolved.plan.via, reasons: [], warnings: resolved.warnings }
        : { mode, access, via: null, reasons: resolved.reasons.map(({ detail }) => detail), warnings: [] }
    }),
  )
}
