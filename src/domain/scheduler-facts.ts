import type { Capabilities } from './capabilities.ts'
import type { SchedulerKind } from './scheduler-kind.ts'

/** A configured scheduler, as far as admission asks. */
export interface SchedulerFacts {
  readonly name: string
  readonly kind: SchedulerKind
  readonly capabilities: Capabilities
}
