import type { Capabilities } from '../capabilities.ts'
import type { Flaw } from '../fault.ts'
import type { MountPlan } from '../mount-plan.ts'
import type { DriveUse, MountMode, Requirement } from '../mount.ts'
import type { SchedulerKind } from '../scheduler-kind.ts'
import type { DriveSnapshot, DriveSource } from './drive.ts'

/** One way to let a role see a drive, before it is known whether the scheduler has it. */
export interface Way {
  readonly mode: Exclude<MountMode, 'auto'>
  readonly plan: MountPlan
  /** What programs may miss in its file system. */
  readonly lacks: readonly Requirement[]
  /** Why it cannot be for just this drive and mount, whatever the scheduler has. */
  readonly flaws: readonly Flaw[]
  /** What the user should know if it is taken. */
  readonly warnings: readonly string[]
}

/** All that the ways of a drive are made from. */
export interface WayFacts<S extends DriveSource = DriveSource> {
  readonly source: S
  readonly drive: DriveSnapshot
  readonly use: DriveUse
  readonly kind: SchedulerKind
  readonly capabilities: Capabilities
}

/** A live mount of a real file system: nothing is missing. */
export const liveWay = (plan: MountPlan, more: Partial<Omit<Way, 'plan'>> = {}): Way => ({
  mode: 'mount',
  plan,
  lacks: [],
  flaws: [],
  warnings: [],
  ...more,
})

/** A path below a directory. */
export const below = (directory: string, subPath: string): string =>
  subPath === '' ? directory : `${directory === '/' ? '' : directory}/${subPath}`

export const isReadOnly = ({ access }: DriveUse): boolean => access === 'ro'

/** For what can only be mounted whole. */
export const wholeOnly = ({ subPath }: DriveUse, what: string): Flaw[] =>
  subPath === '' ? [] : [{ code: 'sub_path_unsupported', detail: `${what} can only be mounted whole: leave subPath out, or copy it` }]
