/** The middle one; the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? (sorted[Math.floor(middle)] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2
}

export interface Pair {
  readonly ours: number
  readonly bare: number
}

/** Measures both in turn, ours first in every other round, so that a slow spell of the machine strikes both. */
export async function inPairs(rounds: number, ours: () => Promise<number>, bare: () => Promise<number>): Promise<Pair[]> {
  const pairs: Pair[] = []
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      const first = await ours()
      pairs.push({ ours: first, bare: await bare() })
    } else {
      const first = await bare()
      pairs.push({ bare: first, ours: await ours() })
    }
  }
  return pairs
}

/** A line for people: both medians, and the median of the ratios, which is what counts. */
export function report(what: string, pairs: readonly Pair[], unit: string, goal: string): void {
  const ratio = median(pairs.map(({ ours, bare }) => ours / bare))
  const [ours, bare] = [median(pairs.map((pair) => pair.ours)), median(pairs.map((pair) => pair.bare))]
  console.log(
    `${what}: ${ours.toFixed(1)} ${unit} to ${bare.toFixed(1)} ${unit} bare, ` +
      `ratio ${ratio.toFixed(2)} (goal ${goal}; ${pairs.length} rounds)`,
  )
}
