import type { Logger } from 'pino'

/** So often may an attempt's observations fail in a row before they are let alone. */
const MOST_FAILURES = 3
/** Then they are tried again: what poisons today may be mended tomorrow. */
const ASIDE_MS = 10 * 60_000

interface Failures {
  readonly count: number
  readonly lastAt: number
}

/** Attempts of which nothing can be taken in, set aside so that one bad object does not keep a watcher from all others. */
export class Poison {
  readonly #failures = new Map<string, Failures>()
  readonly #log: Logger

  constructor(log: Logger) {
    this.#log = log
  }

  isAside(attemptId: string): boolean {
    const { count = 0, lastAt = 0 } = this.#failures.get(attemptId) ?? {}
    return count >= MOST_FAILURES && performance.now() - lastAt < ASIDE_MS
  }

  /** @returns whether it is set aside by this */
  failed(attemptId: string, error: unknown): boolean {
    const count = (this.#failures.get(attemptId)?.count ?? 0) + 1
    this.#failures.set(attemptId, { count, lastAt: performance.now() })
    if (count < MOST_FAILURES) return false
    this.#log.error({ err: error, attempt: attemptId }, 'an attempt is set aside: what its scheduler says of it cannot be taken in')
    return true
  }

  passed(attemptId: string): void {
    this.#failures.delete(attemptId)
  }
}
