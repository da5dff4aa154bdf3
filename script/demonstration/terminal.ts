const isTerminal = process.stdout.isTTY && process.env['NO_COLOR'] === undefined
const paint = (code: number) => (text: string): string => (isTerminal ? `\x1b[${code}m${text}\x1b[0m` : text)

export const bold = paint(1)
export const dim = paint(2)
export const red = paint(31)
export const green = paint(32)
export const yellow = paint(33)
export const cyan = paint(36)

export const say = (line = ''): void => void process.stdout.write(`${line}\n`)

/** Two texts as columns of one width; lines that are too long are cut. */
export function sideBySide(left: readonly string[], right: readonly string[]): string[] {
  const width = Math.floor(((process.stdout.columns ?? 140) - 5) / 2)
  const fit = (line = ''): string => (line.length > width ? `${line.slice(0, width - 1)}…` : line.padEnd(width))
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) => `  ${fit(left[i])} ${dim('│')} ${fit(right[i]).trimEnd()}`)
}
