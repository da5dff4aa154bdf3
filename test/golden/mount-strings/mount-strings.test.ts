import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Flaw } from '../../../src/domain/fault.ts'
import { parseMountString } from '../../../src/domain/mount-string.ts'
import type { Mount } from '../../../src/domain/mount.ts'

/** A conformance case of TorchX's grammar: what goes in, what TorchX makes of it, and what we do. */
interface GoldenCase {
  readonly case: string
  readonly input: readonly string[]
  readonly torchx: string
  readonly mounts?: readonly Mount[]
  readonly flaws?: readonly Flaw[]
}

const cases = JSON.parse(readFileSync(new URL('cases.json', import.meta.url), 'utf8')) as GoldenCase[]

const outcomes = cases.map(({ mounts, flaws, ...entry }) => ({ ...entry, outcome: mounts ?? flaws }))

test.each(outcomes)('$case: $input (TorchX: $torchx)', ({ input, outcome }) => {
  const results = input.map(parseMountString)
  const flaws = results.flatMap((result) => (result.ok ? [] : result.flaws))
  expect(flaws.length > 0 ? flaws : results.flatMap((result) => (result.ok ? result.mounts : []))).toEqual(outcome)
})

test('every golden case says either the mounts or the flaws', () => {
  expect(cases.filter(({ mounts, flaws }) => (mounts === undefined) === (flaws === undefined))).toEqual([])
})
