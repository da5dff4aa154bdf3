import { jsonPointer, type Fault } from './fault.ts'
import { overlapFaults, targetFlaw } from './mount-path.ts'
import { REQUEST_LIMITS } from './request-limits.ts'
import type { RoleBody } from './role-body.ts'
import type { PlacedMount } from './role-mounts.ts'

/** What is wrong with a role as a whole although each of its fields is good: its mounts of both forms together. */
export function roleFaults(role: RoleBody, index: number, mounts: readonly PlacedMount[]): Fault[] {
  const pointer = jsonPointer(['roles', index])
  const crowd = {
    pointer,
    code: 'too_many',
    detail: `must have at most ${REQUEST_LIMITS.mounts} mounts of both forms together, not ${mounts.length}`,
  }
  const shm = mounts.find(({ mount }) => mount.path === '/dev/shm')
  return [
    ...(mounts.length > REQUEST_LIMITS.mounts ? [crowd] : []),
    // Only a device can still have a bad path here: the one that it takes from its source.
    ...mounts.flatMap(({ mount, pointer: at }) =>
      [targetFlaw(mount.path, mount.type) ?? []].flat().map((flaw) => ({ pointer: at, ...flaw })),
    ),
    ...overlapFaults(mounts.map((entry) => ({ path: entry.mount.path, pointer: entry.pointer }))),
    ...(shm !== undefined && (role.resources?.shmMiB ?? null) !== null ? [shmTwice(shm.pointer)] : []),
  ]
}

const shmTwice = (pointer: string): Fault => ({
  pointer,
  code: 'duplicate_path',
  detail: '"/dev/shm" is sized by resources.shmMiB already: keep one of the two',
})
