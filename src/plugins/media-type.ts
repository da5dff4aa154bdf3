import { Problem } from '../domain/problem.ts'

interface Range {
  readonly type: string
  readonly quality: number
}

/**
 * Which of the offered media types an `Accept` header wants most (RFC 9110, 12.5.1); without a wish the first.
 * Parameters other than `q` are not looked at.
 *
 * @throws Problem `not_acceptable`
 */
export function chooseMediaType<T extends string>(accept: string | undefined, offered: readonly [T, ...T[]]): T {
  if (accept === undefined || accept.trim() === '') return offered[0]
  const ranges = accept.split(',').map(parseRange)
  let best: { type: T; quality: number } | null = null
  for (const type of offered) {
    const quality = qualityOf(type, ranges)
    if (quality > (best?.quality ?? 0)) best = { type, quality }
  }
  if (best === null) throw new Problem('not_acceptable', `This can be had as ${offered.join(', ')}.`)
  return best.type
}

function parseRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return { type, quality: quality === undefined ? 1 : Number(quality) || 0 }
}

/** The most exact range that fits decides. */
function qualityOf(type: string, ranges: readonly Range[]): number {
  const family = `${type.slice(0, type.indexOf('/'))}/*`
  for (const wanted of [type, family, '*/*']) {
    const range = ranges.find((candidate) => candidate.type === wanted)
    if (range) return range.quality
  }
  return 0
}
