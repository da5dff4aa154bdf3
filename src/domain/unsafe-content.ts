import { jsonPointer, type Fault } from './fault.ts'
import { REQUEST_LIMITS } from './request-limits.ts'

/**
 * What no part of a body may hold, wherever it stands: NUL and half characters (neither a process nor the database
 * can take them), keys named `__proto__` (a copy would change the object instead of keeping them), and depth without end.
 */
export function unsafeContent(body: unknown): Fault[] {
  const faults: Fault[] = []
  const path: PropertyKey[] = []
  const report = (code: string, detail: string): void => void faults.push({ pointer: jsonPointer(path), code, detail })
  const visit = (value: unknown): void => {
    if (typeof value === 'string' && UNSAFE_TEXT.test(value)) report(...UNSAFE)
    if (typeof value !== 'object' || value === null) return
    if (path.length >= REQUEST_LIMITS.jsonDepth) return report(...TOO_DEEP)
    for (const [key, item] of Object.entries(value)) {
      path.push(key)
      if (UNSAFE_TEXT.test(key)) report(...UNSAFE)
      if (key === '__proto__') report('unsafe_name', 'nothing may be named "__proto__"')
      visit(item)
      path.pop()
    }
  }
  visit(body)
  return faults
}

const UNSAFE = ['unsafe_text', 'must be whole Unicode text without NUL characters'] as const
const TOO_DEEP = ['too_deep', `must not be nested deeper than ${REQUEST_LIMITS.jsonDepth} levels`] as const

/** With `u`, a surrogate that has its partner is one character and does not match. */
const UNSAFE_TEXT = /[\0\p{Surrogate}]/u
