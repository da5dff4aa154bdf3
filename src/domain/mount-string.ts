import type { Flaw } from './fault.ts'
import { readMountFields } from './mount-fields.ts'
import type { Mount } from './mount.ts'
import { splitMountString, type MountField } from './split-mount-string.ts'

export type ParsedMountString =
  { readonly ok: true; readonly mounts: readonly Mount[] } | { readonly ok: false; readonly flaws: readonly Flaw[] }

/**
 * Reads the one-string form: `type=volume,src=foo2,dst=/tmp[,readonly]`. Never throws; all flaws at once.
 *
 * - `type`: `volume`, `bind`, `device` or `tmpfs`. Each `type` begins a mount, so one string may chain several;
 *   where it holds a single mount the order of keys is free.
 * - `src` = `source`; `dst` = `destination` = `target` (of a device: the same as `src` if left out).
 * - `readonly` = `read_only` = `ro`, alone or with `true`, `false`, `1`, `0`; `rw` alone. Not for devices.
 * - `perm` = `permissions` (devices): some of `rwm`, all if left out. `size` (tmpfs): such as `64MiB` or `1GiB`.
 *
 * Unlike TorchX: `readonly=false` means what it says, Docker's `ro` and `permissions` are known, quotes allow commas,
 * and paths that are relative or begin with `~`, doubled keys, and keys that mean nothing for the type are refused.
 */
export function parseMountString(text: string): ParsedMountString {
  const split = splitMountString(text)
  if (!split.ok) return { ok: false, flaws: [split.flaw] }
  const chain = chainOf(split.fields)
  if (!chain.ok) return { ok: false, flaws: [chain.flaw] }
  const results = chain.links.map(readMountFields)
  const mounts = results.flatMap((result) => (result.ok ? [result.mount] : []))
  if (mounts.length === results.length) return { ok: true, mounts }
  return { ok: false, flaws: results.flatMap((result, index) => (result.ok ? [] : numbered(result.flaws, index, results.length))) }
}

type Chain = { readonly ok: true; readonly links: readonly (readonly MountField[])[] } | { readonly ok: false; readonly flaw: Flaw }

/** The fields of each mount of the string: every `type` begins one. */
function chainOf(fields: readonly MountField[]): Chain {
  const starts = fields.flatMap(({ key }, index) => (key === 'type' ? [index] : []))
  if (starts.length <= 1) return { ok: true, links: [fields] }
  if (starts[0] === 0) return { ok: true, links: starts.map((start, index) => fields.slice(start, starts[index + 1])) }
  return {
    ok: false,
    flaw: { code: 'type_not_first', detail: 'must begin with type=, since it holds several mounts and each begins with its type' },
  }
}

/** Says which mount of a chain is meant. */
const numbered = (flaws: readonly Flaw[], index: number, count: number): readonly Flaw[] =>
  count === 1 ? flaws : flaws.map(({ code, detail }) => ({ code, detail: `mount ${index + 1} of ${count}: ${detail}` }))
