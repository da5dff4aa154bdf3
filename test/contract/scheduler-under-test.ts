import type { Scheduler } from '../../src/schedulers/scheduler.ts'

/** A kind of scheduler, as its own test file presents it to the suite. */
export interface SchedulerKindUnderTest {
  /** Heads the titles. */
  readonly name: string
  /** An image with a POSIX shell and the busybox tools; null where the kind takes no image. */
  readonly image: string | null
  /** A scheduler of an installation that nobody else uses. */
  readonly create: () => Promise<SchedulerUnderTest>
}

export interface SchedulerUnderTest {
  readonly scheduler: Scheduler
  /** The installation that specs must carry. */
  readonly installation: string
  /** Name of a volume that nobody else uses; `dispose` deletes it. */
  readonly newVolume: () => string
  /** Native objects of this installation by kind, such as `{ containers: 2, networks: 1 }`; volumes are not counted. */
  readonly leftovers: () => Promise<Readonly<Record<string, number>>>
  /** Ends and deletes whatever this installation still has, its volumes too. */
  readonly dispose: () => Promise<void>
}
