import { overlapFlaws } from './mount-path.ts'
import type { Mount } from './mount.ts'
import type { PlacedFlaw } from './parse-body.ts'
import { REQUEST_LIMITS } from './request-limits.ts'
import { roleMounts, type RoleMountsBody } from './role-mounts.ts'

interface RoleBodyPart extends RoleMountsBody {
  readonly resources?: { readonly shmMiB?: number | null | undefined } | undefined
}

/** What is wrong with a role as a whole although each of its fields is good: its mounts of both forms together. */
export function roleFlaws(role: RoleBodyPart): PlacedFlaw[] {
  const { mounts } = roleMounts(role)
  const shm = mounts.find(({ mount }) => mount.path === '/dev/shm')
  return [
    ...(mounts.length > REQUEST_LIMITS.mounts ? [crowd(mounts.length)] : []),
    ...overlapFlaws(
      mounts
        .filter(({ mount }) => isInFileSystem(mount))
        .map(({ mount, at }) => ({ path: mount.path, at, allowNested: allowsNested(mount) })),
    ),
    ...(shm !== undefined && (role.resources?.shmMiB ?? null) !== null ? [shmTwice(shm.at)] : []),
  ]
}

const isInFileSystem = (mount: Mount): boolean => !('mode' in mount) || mount.mode !== 'api'

const allowsNested = (mount: Mount): boolean => 'allowNested' in mount && mount.allowNested

const crowd = (count: number): PlacedFlaw => ({
  code: 'too_many',
  detail: `must have at most ${REQUEST_LIMITS.mounts} mounts of both forms together, not ${count}`,
})

const shmTwice = (path: readonly PropertyKey[]): PlacedFlaw => ({
  path,
  code: 'duplicate_path',
  detail: '"/dev/shm" is sized by resources.shmMiB already: keep one of the two',
})
