import { devicePermissionsFlaw, orderedPermissions } from './device-permissions.ts'
import {
  credentialsFlaw,
  driveMountOf,
  driveNameFlaw,
  modeFlaw,
  sourceMountOf,
  subPathFlaw,
  type DriveWords,
} from './drives/drive-string.ts'
import type { Flaw } from './fault.ts'
import { pathFlaw, plainPath, targetFlaw } from './mount-path.ts'
import type { Mount, MountType } from './mount.ts'
import { nearestName } from './nearest-name.ts'
import { REQUEST_LIMITS } from './request-limits.ts'
import type { MountField } from './split-mount-string.ts'
import { volumeNameFlaw } from './volume-name.ts'

export type ReadMount = { readonly ok: true; readonly mount: Mount } | { readonly ok: false; readonly flaws: readonly Flaw[] }

/** One mount from its `key=value` fields, `type` among them; or all that is wrong with them. */
export function readMountFields(fields: readonly MountField[]): ReadMount {
  const type = fields.find(({ key }) => key === 'type')
  const unknown = fields.filter(({ key }) => key !== 'type' && !KEYS.has(key)).map(unknownKey)
  if (!isMountType(type?.value)) return { ok: false, flaws: [typeFlaw(type), ...unknown] }
  const { values, flaws } = readValues(type.value, fields)
  const found = [...unknown, ...flaws]
  return found.length > 0 ? { ok: false, flaws: found } : MAKE[type.value](values)
}

type Meaning = 'source' | 'path' | 'access' | 'permissions' | 'size' | 'mode' | 'subPath' | 'credentials'
type Values = Partial<Record<Meaning, string>>

const KEYS: ReadonlyMap<string, Meaning> = new Map([
  ['src', 'source'],
  ['source', 'source'],
  ['dst', 'path'],
  ['destination', 'path'],
  ['target', 'path'],
  ['readonly', 'access'],
  ['read_only', 'access'],
  ['ro', 'access'],
  ['rw', 'access'],
  ['perm', 'permissions'],
  ['permissions', 'permissions'],
  ['size', 'size'],
  ['mode', 'mode'],
  ['subpath', 'subPath'],
  ['credentials', 'credentials'],
])

type Check = (text: string) => Flaw | null

const USE_CHECKS = { path: (text: string) => targetFlaw(text, 'drive'), access: accessFlaw, mode: modeFlaw, subPath: subPathFlaw }

/** What each type takes, and what each value must be. */
const CHECKS: Readonly<Record<MountType, Partial<Record<Meaning, Check>>>> = {
  volume: { source: volumeNameFlaw, path: (text) => targetFlaw(text, 'volume'), access: accessFlaw },
  bind: { source: pathFlaw, path: (text) => targetFlaw(text, 'bind'), access: accessFlaw },
  device: { source: pathFlaw, path: (text) => targetFlaw(text, 'device'), permissions: devicePermissionsFlaw },
  tmpfs: { path: (text) => targetFlaw(text, 'tmpfs'), access: accessFlaw, size: sizeFlaw },
  drive: { ...USE_CHECKS, source: driveNameFlaw },
  source: { ...USE_CHECKS, source: () => null, credentials: credentialsFlaw },
}

const NEEDED: Readonly<Record<MountType, readonly ('source' | 'path')[]>> = {
  volume: ['source', 'path'],
  bind: ['source', 'path'],
  device: ['source'],
  tmpfs: ['path'],
  drive: ['source'],
  source: ['source'],
}

const made = (mount: Mount): ReadMount => ({ ok: true, mount })

const MAKE: Readonly<Record<MountType, (values: Values) => ReadMount>> = {
  volume: ({ source = '', path = '', access }) => made({ type: 'volume', source, path: plainPath(path), access: accessOf(access) }),
  bind: ({ source = '', path = '', access }) =>
    made({ type: 'bind', source: plainPath(source), path: plainPath(path), access: accessOf(access) }),
  device: ({ source = '', path = source, permissions = 'rwm' }) =>
    made({ type: 'device', source: plainPath(source), path: plainPath(path), permissions: orderedPermissions(permissions) }),
  tmpfs: ({ path = '', access, size }) =>
    made({ type: 'tmpfs', path: plainPath(path), access: accessOf(access), sizeMiB: size === undefined ? null : sizeOf(size) }),
  drive: (values) => made(driveMountOf(driveWords(values))),
  source: (values) => sourceMountOf(driveWords(values)),
}

const driveWords = ({ source = '', path, access, mode, subPath, credentials }: Values): DriveWords => ({
  source,
  path,
  access: access === undefined ? undefined : accessOf(access),
  mode,
  subPath,
  credentials,
})

const isMountType = (text: string | null | undefined): text is MountType => Object.hasOwn(CHECKS, text ?? '')

interface ReadValues {
  readonly values: Values
  readonly flaws: readonly Flaw[]
}

function readValues(type: MountType, fields: readonly MountField[]): ReadValues {
  const values: Values = {}
  const flaws: Flaw[] = []
  const seen = new Map<Meaning, string>()
  for (const { key, value } of fields) {
    const meaning = KEYS.get(key)
    if (meaning === undefined) continue
    const flaw = keyFlaw(type, key, seen.get(meaning)) ?? valueFlaw(type, key, value)
    seen.set(meaning, key)
    if (flaw === null) values[meaning] = meaning === 'access' ? `${key}=${value ?? ''}` : (value ?? '')
    else flaws.push(flaw)
  }
  return { values, flaws: [...flaws, ...absenceFlaws(type, values, seen)] }
}

function absenceFlaws(type: MountType, { source }: Values, seen: ReadonlyMap<Meaning, string>): Flaw[] {
  const absent = NEEDED[type].filter((meaning) => !seen.has(meaning)).map((meaning) => missing(type, meaning))
  const implied = type === 'device' && source !== undefined && !seen.has('path') ? targetFlaw(source, type) : null
  return implied === null ? absent : [...absent, implied]
}

function keyFlaw(type: MountType, key: string, before: string | undefined): Flaw | null {
  const meaning = KEYS.get(key)
  if (meaning !== undefined && CHECKS[type][meaning] === undefined) {
    const hint = type === 'device' && meaning === 'access' ? '; use perm=r for reading only' : ''
    return { code: 'key_not_for_type', detail: `"${key}" means nothing for type=${type}${hint}` }
  }
  if (before === undefined) return null
  const same = before === key ? 'given twice' : `given as "${before}" and as "${key}"`
  return { code: 'duplicate_key', detail: `"${key}" is ${same}: say it once` }
}

function valueFlaw(type: MountType, key: string, value: string | null): Flaw | null {
  const meaning = KEYS.get(key)
  const check = meaning === undefined ? undefined : CHECKS[type][meaning]
  if (check === undefined) return null
  if (meaning === 'access') return check(`${key}=${value ?? ''}`) ?? (value === '' ? emptyValue(key) : null)
  if (value === null) return { code: 'missing_value', detail: `"${key}" needs a value: ${key}=…` }
  return value === '' ? emptyValue(key) : check(value)
}

const emptyValue = (key: string): Flaw => ({ code: 'empty_value', detail: `"${key}" has an empty value: give one, or leave it out` })

/** `key=value` of a flag that says whether the role may write; the value is empty where there is none. */
function accessFlaw(flag: string): Flaw | null {
  const [key = '', value = ''] = flag.split('=')
  if (key === 'rw') return value === '' ? null : { code: 'bad_flag', detail: '"rw" stands alone, without a value' }
  return ['', 'true', 'false', '1', '0'].includes(value)
    ? null
    : { code: 'bad_flag', detail: `"${key}" stands alone or is true, false, 1 or 0` }
}

const accessOf = (flag = 'rw='): 'ro' | 'rw' => (/^rw=|=(false|0)$/.test(flag) ? 'rw' : 'ro')

const SIZE = /^([1-9]\d{0,11})(m|mb|mib|g|gb|gib)$/i

function sizeFlaw(text: string): Flaw | null {
  if (SIZE.test(text) && sizeOf(text) <= REQUEST_LIMITS.memoryMiB) return null
  return { code: 'bad_size', detail: `"${text.slice(0, 40)}" must be a whole number with its unit, such as 64MiB or 1GiB` }
}

/** In MiB. `m` and `mb` are MiB too, as with Docker. */
function sizeOf(text: string): number {
  const [, count = '', unit = ''] = SIZE.exec(text) ?? []
  return Number(count) * (unit.toLowerCase().startsWith('g') ? 1024 : 1)
}

const missing = (type: MountType, meaning: 'source' | 'path'): Flaw =>
  meaning === 'source'
    ? {
        code: 'missing_source',
        detail: `type=${type} needs src=…: ${SOURCES[type] ?? 'a path of the machine'}`,
      }
    : { code: 'missing_path', detail: `type=${type} needs dst=…: where the role sees it` }

const SOURCES: Partial<Record<MountType, string>> = {
  volume: 'the name of the volume',
  drive: 'the name of the drive',
  source: 'where it is, such as s3://bucket/prefix/',
}

function typeFlaw(type: MountField | undefined): Flaw {
  const choice = Object.keys(CHECKS).join(', ')
  if (type === undefined) return { code: 'missing_type', detail: `must say its type=, one of ${choice}` }
  const meant = nearestName(type.value ?? '', Object.keys(CHECKS))
  const hint = meant === null ? '' : `; did you mean type=${meant}?`
  return { code: 'unknown_type', detail: `type must be one of ${choice}, not "${(type.value ?? '').slice(0, 40)}"${hint}` }
}

function unknownKey({ key, value }: MountField): Flaw {
  const known = [...KEYS.keys()]
  const meant = nearestName(key, known)
  const hint = meant === null ? `known are type, ${known.join(', ')}` : `did you mean "${meant}"?`
  const comma = value === null ? '; if it belongs to the value before it, put that into double quotes' : ''
  return { code: 'unknown_key', detail: `there is no key "${key.slice(0, 40)}"; ${hint}${comma}` }
}
