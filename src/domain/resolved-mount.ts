import type { Flaw } from './fault.ts'
import type { Candidate, MountPlan } from './mount-plan.ts'

/** What a mount becomes on a scheduler, with all ways that were considered; or every reason against it. */
export type ResolvedMount =
  | { readonly ok: true; readonly plan: MountPlan; readonly candidates: readonly Candidate[]; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly reasons: readonly Flaw[]; readonly candidates: readonly Candidate[] }
