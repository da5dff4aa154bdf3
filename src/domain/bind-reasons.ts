import type { BindRoot } from './capabilities.ts'
import type { Flaw } from './fault.ts'
import { isUnder, plainPath } from './mount-path.ts'
import type { Access } from './mount.ts'

/** Why a path of the machine may not be mounted; none if it may. */
export function bindReasons(source: string, access: Access, roots: readonly BindRoot[]): readonly Flaw[] {
  const never = NEVER_BOUND.find((path) => source === path || isUnder(path, source) || isUnder(source, path))
  if (never !== undefined) {
    const detail = `"${source}" is never mounted, whatever the operator allows: ${never} belongs to the machine`
    return [{ code: 'bind_not_allowed', detail }]
  }
  const root = innermost(source, roots)
  if (root === undefined) {
    const allowed = roots.map((entry) => (entry.readOnly ? `${entry.root} (read-only)` : entry.root))
    return [{ code: 'bind_not_allowed', detail: `"${source}" is not under a directory that the operator allows; ${listed(allowed)}` }]
  }
  if (!root.readOnly || access === 'ro') return []
  return [
    { code: 'bind_read_only', detail: `"${source}" can only be read, since "${root.root}" is allowed for reading: ask for access "ro"` },
  ]
}

/** The longest allowed directory that holds the path decides; of two equal ones, the stricter. */
function innermost(source: string, roots: readonly BindRoot[]): BindRoot | undefined {
  const around = roots
    .map((entry) => ({ ...entry, root: plainPath(entry.root) }))
    .filter(({ root }) => source === root || isUnder(root, source))
  return around.sort((a, b) => b.root.length - a.root.length || Number(b.readOnly) - Number(a.readOnly))[0]
}

/** Neither these, nor what lies in them, nor what holds them. */
const NEVER_BOUND = ['/proc', '/sys', '/dev', '/run/docker.sock', '/var/run/docker.sock']

/** What an operator allows, in words. */
export const listed = (allowed: readonly string[]): string =>
  allowed.length === 0 ? 'none is allowed' : `allowed are ${[...allowed].sort().join(', ')}`
