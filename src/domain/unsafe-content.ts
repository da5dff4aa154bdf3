import { jsonPointer, type Fault } from './fault.ts'
import { REQUEST_LIMITS } from './request-limits.ts'

/**
 * What no part of a body may hold, wherever it stands: NUL and half characters (neither a process nor the database
 * can take them), keys named `__proto__` (a copy would change the object instead of keeping them), and depth without end.
 */
export function unsafeContent(body: unknown): Fault[] {
  const faults: Fault[] = []
  const visit = (value: unknown, path: readonly PropertyKey[]): void => {
    if (path.length > REQUEST_LIMITS.jsonDepth) {
      faults.push({
        pointer: jsonPointer(path),
        code: 'too_deep',
        detail: `must not be nested deeper than ${REQUEST_LIMITS.jsonDepth} levels`,
      })
    } else if (typeof value === 'string') {
      if (UNSAFE_TEXT.test(value)) faults.push(unsafeText(path))
    } else if (Array.isArray(value)) {
      value.forEach((item, index) => visit(item, [...path, index]))
    } else if (typeof value === 'object' && value !== null) {
      for (const key of Object.keys(value)) visitKey(key, [...path, key])
      for (const [key, item] of Object.entries(value)) visit(item, [...path, key])
    }
  }
  const visitKey = (key: string, path: readonly PropertyKey[]): void => {
    if (UNSAFE_TEXT.test(key)) faults.push(unsafeText(path))
    if (key === '__proto__') faults.push({ pointer: jsonPointer(path), code: 'unsafe_name', detail: 'nothing may be named "__proto__"' })
  }
  visit(body, [])
  return faults
}

/** With `u`, a surrogate that has its partner is one character and does not match. */
const UNSAFE_TEXT = /[\0\p{Surrogate}]/u

const unsafeText = (path: readonly PropertyKey[]): Fault => ({
  pointer: jsonPointer(path),
  code: 'unsafe_text',
  detail: 'must be whole Unicode text without NUL characters',
})
