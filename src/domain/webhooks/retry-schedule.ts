/** Seconds before each try of a delivery (Standard Webhooks 1.0, "deliverability and reliability"): about three days in all. */
export const RETRY_SECONDS: readonly number[] = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
/** Each wait is longer or shorter by up to this part, so that what failed together does not come back together. */
const JITTER = 0.2
const DAY_SECONDS = 86_400

/**
 * How long to wait after so many tries; null when there were enough.
 *
 * @param tries from 1
 * @param retryAfterSeconds what the receiver asked for; obeyed up to a day
 * @param random from 0 to 1
 */
export function retryDelaySeconds(tries: number, retryAfterSeconds: number | null, random: number): number | null {
  const planned = RETRY_SECONDS[tries]
  if (planned === undefined) return null
  const jittered = planned * (1 - JITTER + 2 * JITTER * random)
  return Math.max(jittered, Math.min(retryAfterSeconds ?? 0, DAY_SECONDS))
}

/** `Retry-After` in seconds, from its number or date (RFC 9110, 10.2.3); null if it says neither. */
export function parseRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null
  if (/^\d{1,9}$/.test(header.trim())) return Number(header)
  const at = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : NaN
  return Number.isNaN(at) ? null : Math.max(0, (at - now.getTime()) / 1000)
}
