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

test.each(cases)('$case: $input (TorchX: $torchx)', ({ input, mounts, flaws }) => {
  const results = input.map(parseMountString)
  const found = results.flatMap((result) => (result.ok ? [] : result.flaws))
  expect(found).toEqual(flaws ?? [])
  if (mounts !== undefined) expect(results.flatMap((result) => (result.ok ? result.mounts : []))).toEqual(mounts)
})

test('every golden case says either the mounts or the flaws', () => {
  for (const entry of cases)
    expect(
      [entry.mounts, entry.flaws].filter((part) => part !== undefined),
      entry.case,
    ).toHaveLength(1)
})
