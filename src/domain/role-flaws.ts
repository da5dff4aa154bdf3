import { drivesNamedIn } from './macros.ts'
import { overlapFlaws } from './mount-path.ts'
import type { Mount } from './mount.ts'
import type { PlacedFlaw } from './parse-body.ts'
import { REQUEST_LIMITS } from './request-limits.ts'
import { roleMounts, type RoleMountsBody } from './role-mounts.ts'

interface RoleBodyPart extends RoleMountsBody {
  readonly command?: readonly string[] | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
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
    ...macroFlaws(
      role,
      mounts.map(({ mount }) => mount),
    ),
    ...(shm !== undefined && (role.resources?.shmMiB ?? null) !== null ? [shmTwice(shm.at)] : []),
  ]
}

/** A shell would only say that the substitution is bad. */
function macroFlaws({ command = [], env = {} }: RoleBodyPart, mounts: readonly Mount[]): PlacedFlaw[] {
  const known = mounts.filter(isInFileSystem).flatMap((mount) => (mount.type === 'drive' ? [mount.drive] : []))
  const texts: readonly (readonly [readonly PropertyKey[], string])[] = [
    ...command.map((text, index) => [['command', index], text] as const),
    ...Object.entries(env).map(([name, text]) => [['env', name], text] as const),
  ]
  return texts.flatMap(([path, text]) =>
    drivesNamedIn(text)
      .filter((name) => !known.includes(name))
      .map((name) => ({
        path,
        code: 'unknown_drive',
        detail: `the role mounts no drive "${name}", so that \${drive.${name}.path} means nothing`,
      })),
  )
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
