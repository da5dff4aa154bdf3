import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../support/random.ts'

const CALL_FAULTS = ['error', 'lost answer', 'delay', 'duplicate'] as const
const READ_FAULTS = ['error', 'broken off', 'delay', 'stale'] as const

export type PortFault = (typeof CALL_FAULTS)[number] | (typeof READ_FAULTS)[number]

export interface PortFaultsOptions {
  readonly random: Random
  /** Of each call, from 0 to 1. */
  readonly chance: number
  /** The longest delay. */
  readonly delayMs: number
  /** What the port throws for a call that failed, or whose answer was lost. */
  readonly error: (words: string) => Error
}

/** What befalls the calls of a port, by seed, until there is quiet. */
export class PortFaults {
  /** How often each has befallen a call. */
  readonly counts: Partial<Record<PortFault, number>> = {}
  readonly #options: PortFaultsOptions
  #quiet = false

  constructor(options: PortFaultsOptions) {
    this.#options = options
  }

  quiet(): void {
    this.#quiet = true
  }

  /** A call that may be repeated. */
  async call<T>(act: () => Promise<T>): Promise<T> {
    const fault = this.#choose(CALL_FAULTS)
    if (fault === 'error') throw this.#options.error('the call did not get there')
    if (fault === 'delay') await this.#delay()
    const [answer] = await Promise.all(fault === 'duplicate' ? [act(), act()] : [act()])
    if (fault === 'lost answer') throw this.#options.error('the answer did not come back')
    return answer
  }

  /** Something that comes in parts; `stale` gives an earlier part again. */
  async *read<T>(parts: () => AsyncIterable<T>, stale: (earlier: readonly T[]) => T | undefined): AsyncGenerator<T> {
    const earlier: T[] = []
    for await (const part of parts()) {
      const fault = this.#choose(READ_FAULTS)
      if (fault === 'error') throw this.#options.error('the read did not get there')
      if (fault === 'delay') await this.#delay()
      const old = fault === 'stale' ? stale(earlier) : undefined
      if (old !== undefined) yield old
      yield part
      if (fault === 'broken off') throw this.#options.error('the read broke off')
      earlier.push(part)
    }
  }

  #choose<F extends PortFault>(faults: readonly F[]): F | null {
    if (this.#quiet || this.#options.random.next() >= this.#options.chance) return null
    const fault = this.#options.random.oneOf(faults)
    this.counts[fault] = (this.counts[fault] ?? 0) + 1
    return fault
  }

  #delay(): Promise<void> {
    return sleep(this.#options.random.next() * this.#options.delayMs)
  }
}
