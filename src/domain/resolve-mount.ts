import { bindReasons, listed } from './bind-reasons.ts'
import type { Capabilities } from './capabilities.ts'
import type { Flaw } from './fault.ts'
import type { MountPlan, MountVia } from './mount-plan.ts'
import type { BindMount, DeviceMount, TmpfsMount, VolumeMount } from './mount.ts'
import type { ResolvedMount } from './resolved-mount.ts'

/** What is mounted as it stands, without a drive. */
export type PlainMount = VolumeMount | BindMount | DeviceMount | TmpfsMount

/** Pure, total and deterministic: the first way, in order of preference, that the scheduler has and its operator allows. */
export function resolveMount(mount: PlainMount, capabilities: Capabilities): ResolvedMount {
  const tried = plansOf(mount).map((plan) => ({ plan, reasons: reasonsAgainst(mount, plan.via, capabilities) }))
  const taken = tried.find(({ reasons }) => reasons.length === 0)
  const candidates = tried.map(({ plan, reasons }) => ({
    via: plan.via,
    mode: 'mount' as const,
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
    : { ok: true, plan: taken.plan, candidates, warnings: [] }
}

/** Every way to make a mount, the best first. */
function plansOf(mount: PlainMount): readonly MountPlan[] {
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

function reasonsAgainst(mount: PlainMount, via: MountVia, { mountVia, bindRoots, devices }: Capabilities): readonly Flaw[] {
  if (!mountVia.includes(via)) return [{ code: 'mount_unsupported', detail: `this scheduler has no mounts of type "${mount.type}"` }]
  if (mount.type === 'bind') return bindReasons(mount.source, mount.access, bindRoots)
  if (mount.type !== 'device' || devices.includes(mount.source)) return []
  return [{ code: 'device_not_allowed', detail: `the device "${mount.source}" is not allowed; ${listed(devices)}` }]
}

