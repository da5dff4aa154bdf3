/** Chance that a seed repeats (mulberry32: one 32-bit state, good enough to choose). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 to, but without, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  upTo(most: number): number {
    return Math.floor(this.next() * most)
  }

  oneOf<T>(choices: readonly T[]): T {
    const chosen = choices[this.upTo(choices.length)]
    if (chosen === undefined) throw new Error('there is nothing to choose from')
    return chosen
  }
}
