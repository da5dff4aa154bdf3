import type { Claim } from '../../db/statements/claim-attempt.ts'
import type { DriveSnapshot } from '../../domain/drives/drive.ts'
import { expandMacros } from '../../domain/macros.ts'
import type { Resolution, StagedPlan } from '../../domain/mount-plan.ts'
import type { DriveUse, Mount } from '../../domain/mount.ts'
import type { MountPlace } from '../../schedulers/scheduler.ts'

/** A staged mount of one replica: which part of which drive it is. */
export interface StagedMount {
  readonly place: MountPlace
  readonly plan: StagedPlan
  readonly use: DriveUse
  readonly drive: DriveSnapshot
  /** In the drive, with every macro replaced; empty for all of it. */
  readonly subPath: string
  /** Tells it from every other of the attempt; safe in a path. */
  readonly id: string
}

/** Every staged mount of every replica of an attempt. */
export function stagedMounts(claim: Claim): StagedMount[] {
  return claim.spec.roles.flatMap((role, roleIndex) => {
    const staged = claim.resolutions.filter(({ role: name, plan }) => name === role.name && plan.via === 'staged')
    return Array.from({ length: role.replicas }, (_, index) =>
      staged.map((resolution, mountIndex) => mountOf(claim, resolution, { index, id: `${roleIndex}-${index}-${mountIndex}` })),
    ).flat()
  })
}

function mountOf(
  { jobId, number }: Claim,
  { role, path, mount, plan, drive }: Resolution,
  { index, id }: { index: number; id: string },
): StagedMount {
  if (!isUse(mount) || plan.via !== 'staged' || drive === null) throw new Error(`the staged mount ${path} of ${role} has no drive`)
  const subPath = expandMacros(mount.subPath, { job_id: jobId, attempt: number, role, replica: index, pathOf: () => null })
  return { place: { role, index, path: plan.path }, plan, use: mount, drive, subPath, id }
}

const isUse = (mount: Mount): mount is Extract<Mount, DriveUse> => mount.type === 'drive' || mount.type === 'source'

/** For people: which drive, and where in it. */
export const placeInDrive = ({ drive, subPath }: Pick<StagedMount, 'drive' | 'subPath'>): string =>
  `drive ${drive.name ?? drive.source.kind}${subPath === '' ? '' : ` at ${subPath}`}`
