import type { Flaw } from '../fault.ts'
import type { MountPlan } from '../mount-plan.ts'

/**
 * What a mount may ask of the tool that mounts it. Nothing that leads elsewhere, changes who may do what, or makes what a
 * mode promises untrue: mount.nfs by nfs(5), rclone by its documentation of `rclone mount`.
 */
const ALLOWED: Partial<Record<MountPlan['via'], Readonly<Record<string, RegExp>>>> = {
  nfs: {
    nfsvers: /^(3|4|4\.[012])$/,
    rsize: /^[1-9]\d{3,6}$/,
    wsize: /^[1-9]\d{3,6}$/,
    timeo: /^[1-9]\d{0,4}$/,
    retrans: /^\d{1,2}$/,
    nconnect: /^([1-9]|1[0-6])$/,
    recovery: /^(hard|soft)$/,
  },
  rclone_volume: {
    'buffer-size': /^[1-9]\d{0,4}(Ki|Mi)$/,
    'vfs-read-ahead': /^[1-9]\d{0,4}(Ki|Mi)$/,
    'vfs-read-chunk-size': /^[1-9]\d{0,4}(Ki|Mi)$/,
    'vfs-read-chunk-streams': /^([1-9]|[1-5]\d|6[0-4])$/,
  },
}

/** Why this way cannot take the options of a mount. */
export function optionReasons({ via }: MountPlan, options: Readonly<Record<string, string>>): Flaw[] {
  const allowed = ALLOWED[via] ?? {}
  return Object.entries(options).flatMap(([name, value]) => {
    if (Object.hasOwn(allowed, name) && allowed[name]?.test(value)) return []
    const words = Object.hasOwn(allowed, name) ? `"${value}" is no value of ${name} for ${via}` : `${via} has no option ${name} here`
    return [{ code: 'option_unsupported', detail: `${words}; ${choices(allowed)}` }]
  })
}

const choices = (allowed: object): string => {
  const names = Object.keys(allowed)
  return names.length === 0 ? 'it takes none' : `it takes ${names.join(', ')}`
}

/** For mount.nfs, in an order of their own. */
export const nfsOptions = (options: Readonly<Record<string, string>>): string[] =>
  Object.entries(options)
    .map(([name, value]) => (name === 'recovery' ? value : `${name}=${value}`))
    .sort()
