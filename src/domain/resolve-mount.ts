import type { BindRoot, Capabilities } from './capabilities.ts'
import type { Flaw } from './fault.ts'
import type { Candidate, MountPlan, MountVia } from './mount-plan.ts'
import { isUnder, plainPath } from './mount-path.ts'
import type { BindMount, Mount } from './mount.ts'

/** What a mount becomes on a scheduler, with all ways that were considered; or every reason against it. */
export type ResolvedMount =
  | { readonly ok: true; readonly plan: MountPlan; readonly candidates: readonly Candidate[] }
  | { readonly ok: false; readonly reasons: readonly Flaw[]; readonly candidates: readonly Candidate[] }

/** Pure, total and deterministic: the first way, in order of preference, that the scheduler has and its operator allows. */
export function resolveMount(mount: Mount, capabilities: Capabilities): ResolvedMount {
  const tried = plansOf(mount).map((plan) => ({ plan, reasons: reasonsAgainst(mount, plan.via, capabilities) }))
  const taken = tried.find(({ reasons }) => reasons.length === 0)
  const candidates = tried.map(({ plan, reasons }) => ({
    via: plan.via,
    taken: plan === taken?.plan,
    reason:
      plan === taken?.plan
        ? null
        : reasons.length === 0
          ? `${taken?.plan.via} comes first`
          : reasons.map(({ detail }) => detail).join('; '),
  }))
  return taken === undefined
    ? { ok: false, reasons: tried.flatMap(({ reasons }) => reasons), candidates }
    : { ok: true, plan: taken.plan, candidates }
}

/** Every way to make a mount, the best first. */
function plansOf(mount: Mount): readonly MountPlan[] {
  const { path } = mount
  switch (mount.type) {
    case 'volume':
      return [{ via: 'named_volume', volume: mount.source, path, readOnly: mount.access === 'ro' }]
    case 'bind':
      return [{ via: 'host_path', hostPath: mount.source, path, readOnly: mount.access === 'ro' }]
    case 'device':
      return [{ via: 'device', hostPath: mount.source, path, permissions: mount.permissions }]
    case 'tmpfs':
      return [{ via: 'tmpfs', path, sizeMiB: mount.sizeMiB, readOnly: mount.access === 'ro' }]
  }
}

function reasonsAgainst(mount: Mount, via: MountVia, { mountVia, bindRoots, devices }: Capabilities): readonly Flaw[] {
  if (!mountVia.includes(via)) return [{ code: 'mount_unsupported', detail: `this scheduler has no mounts of type "${mount.type}"` }]
  if (mount.type === 'bind') return bindReasons(mount, bindRoots)
  if (mount.type !== 'device' || devices.includes(mount.source)) return []
  return [{ code: 'device_not_allowed', detail: `the device "${mount.source}" is not allowed; ${listed(devices)}` }]
}

function bindReasons({ source, access }: BindMount, roots: readonly BindRoot[]): readonly Flaw[] {
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

const listed = (allowed: readonly string[]): string =>
  allowed.length === 0 ? 'none is allowed' : `allowed are ${[...allowed].sort().join(', ')}`
