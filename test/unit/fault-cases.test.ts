import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const home = fileURLToPath(new URL('../..', import.meta.url))
/** Of Kubernetes and AWS Batch, which are not there yet. */
const LATER = new Set([24, 25, 26, 27, 28])
const ALL = Array.from({ length: 42 }, (_, at) => at + 1).filter((number) => !LATER.has(number))

const numbersIn = (text: string): number[] => [...text.matchAll(/\d+/g)].map(([number]) => Number(number))

/** Rows of the table: numbers, and the files and folders in which their proofs are. */
const rows = readFileSync(join(home, 'docs/reliability.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, numbers = '', , proofs = ''] = line.split('|').map((cell) => cell.trim())
    if (!/^\d[\d, ]*$/.test(numbers)) return []
    return [{ numbers: numbersIn(numbers), places: [...proofs.matchAll(/`([^`]+)`/g)].map(([, place = '']) => place) }]
  })
const tests = readdirSync(join(home, 'test'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))

/** Numbers in names of tests, as `(case 3)` or `(cases 15, 16)`. */
const numbersNamedIn = (path: string): number[] =>
  [...readFileSync(join(home, 'test', path), 'utf8').matchAll(/\(cases? ([\d, ]+)\)/g)].flatMap(([, numbers = '']) => numbersIn(numbers))

describe('the list of fault cases', () => {
  it('has every case that concerns what exists', () => {
    expect(rows.flatMap(({ numbers }) => numbers).sort((a, b) => a - b)).toEqual(ALL)
  })

  it.each(rows)('says of $numbers where there is a test that bears the number', ({ numbers, places }) => {
    const named = tests.filter((path) => places.some((place) => path.startsWith(place))).flatMap(numbersNamedIn)
    expect(numbers.filter((number) => !named.includes(number))).toEqual([])
  })
})
