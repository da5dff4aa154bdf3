import { LEASE_SECONDS, renewClaim, type Claim } from '../../db/statements/claim-attempt.ts'
import type { ServiceDeps } from '../service-deps.ts'

const RENEW_MS = 2_000
/** A worker that could not renew stops acting well before the database lets another have the claim. */
const SAFE_MS = LEASE_SECONDS * 1_000 * 0.6

export interface HeldClaim {
  /** Aborted when the claim may no longer be ours. */
  readonly signal: AbortSignal
  release(): void
}

/** Renews a claim until it is let go; its own time is measured on a monotonic clock, from before each renewal was sent. */
export function holdClaim(deps: ServiceDeps, claim: Claim, stop: AbortSignal): HeldClaim {
  const lost = new AbortController()
  let safeUntil = performance.now() + SAFE_MS
  let renewing = false

  const tick = async (): Promise<void> => {
    if (performance.now() > safeUntil) lost.abort(new Error('the claim could not be renewed in time'))
    if (renewing || lost.signal.aborted) return
    renewing = true
    const asked = performance.now()
    try {
      if (await renewClaim(deps.pool, claim)) safeUntil = asked + SAFE_MS
      else lost.abort(new Error('another worker has taken the attempt over'))
    } catch (error) {
      deps.log.warn({ err: error, attempt: claim.attemptId }, 'a claim was not renewed')
    } finally {
      renewing = false
    }
  }
  const timer = setInterval(() => void tick(), RENEW_MS)
  return { signal: AbortSignal.any([lost.signal, stop]), release: () => clearInterval(timer) }
}
