import type { Flaw } from './fault.ts'

/** One `key=value` or `key` of a mount string; `value` is null where there is no `=`. */
export interface MountField {
  readonly key: string
  readonly value: string | null
}

export type SplitMountString = { readonly ok: true; readonly fields: readonly MountField[] } | { readonly ok: false; readonly flaw: Flaw }

/**
 * Splits at commas, as one line of CSV. A value or a whole `key=value` may stand in double quotes and then hold commas
 * and, doubled, quotes. Blanks around a part mean nothing; a quote anywhere else is refused, and so is an empty part.
 */
export function splitMountString(text: string): SplitMountString {
  const fields: MountField[] = []
  for (let at = 0; ;) {
    const part = readPart(text, skipBlanks(text, at))
    if (!part.ok) return part
    const end = skipBlanks(text, part.end)
    if (end < text.length && text[end] !== ',') return MISPLACED
    fields.push(part.field)
    if (end >= text.length) return { ok: true, fields }
    at = end + 1
  }
}

type Part = { readonly ok: true; readonly field: MountField; readonly end: number } | { readonly ok: false; readonly flaw: Flaw }

function readPart(text: string, start: number): Part {
  if (text[start] === '"') {
    const quoted = readQuoted(text, start)
    return quoted === null ? UNCLOSED : { ok: true, field: fieldOf(quoted.value), end: quoted.end }
  }
  const plain = readPlain(text, start)
  if (plain.value.trim() === '') return text[plain.end] === '"' ? MISPLACED : emptyPart(text)
  if (text[plain.end] !== '"') return { ok: true, field: fieldOf(plain.value.trim()), end: plain.end }
  if (plain.value.indexOf('=') !== plain.value.length - 1) return MISPLACED
  const quoted = readQuoted(text, plain.end)
  return quoted === null ? UNCLOSED : { ok: true, field: { key: plain.value.slice(0, -1), value: quoted.value }, end: quoted.end }
}

interface Read {
  readonly value: string
  readonly end: number
}

function readPlain(text: string, start: number): Read {
  let end = start
  while (end < text.length && text[end] !== ',' && text[end] !== '"') end++
  return { value: text.slice(start, end), end }
}

/** From the opening quote to behind the closing one; null if there is none. */
function readQuoted(text: string, start: number): Read | null {
  let value = ''
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] !== '"') value += text[at]
    else if (text[at + 1] === '"') value += text[at++]
    else return { value, end: at + 1 }
  }
  return null
}

function skipBlanks(text: string, start: number): number {
  let at = start
  while (text[at] === ' ' || text[at] === '\t') at++
  return at
}

function fieldOf(part: string): MountField {
  const equals = part.indexOf('=')
  return equals === -1 ? { key: part, value: null } : { key: part.slice(0, equals), value: part.slice(equals + 1) }
}

const refuse = (code: string, detail: string) => ({ ok: false, flaw: { code, detail } }) as const

const UNCLOSED = refuse('unclosed_quote', 'a quote is opened and never closed')
const MISPLACED = refuse('misplaced_quote', 'a quote must enclose a whole value or a whole key=value; double it to mean itself')

const emptyPart = (text: string) =>
  text.trim() === ''
    ? refuse('empty_mount_string', 'must not be empty: write for example type=volume,src=foo2,dst=/data')
    : refuse('empty_part', 'has a comma with nothing before or after it: take it away')
