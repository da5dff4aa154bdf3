import type { Flaw } from '../fault.ts'
import type { DriveMount, MountMode, SourceMount } from '../mount.ts'
import { MOUNT_MODES } from '../mount.ts'
import { NAME_PATTERN } from '../names-on-the-wire.ts'
import { parseBody } from '../parse-body.ts'
import { SourceBody } from './drive-body.ts'
import { readDriveUrl, managedNameOf } from './drive-url.ts'
import { normaliseDriveMount, normaliseSourceMount } from './normalise-use.ts'
import { objectKeyFlaw } from './object-key.ts'

/** What the one-string form says of a mount of a drive or source; each text has been checked. */
export interface DriveWords {
  readonly source: string
  readonly path: string | undefined
  readonly access: 'ro' | 'rw' | undefined
  readonly mode: string | undefined
  readonly subPath: string | undefined
  /** `none`, `ambient`, or the name of a secret. */
  readonly credentials: string | undefined
}

/** What is wrong with the name of a drive, with or without `lit://` before it. */
export function driveNameFlaw(text: string): Flaw | null {
  const name = managedNameOf(text) ?? text
  if (NAME_PATTERN.test(name)) return null
  const hint = text.includes('://') ? '; for storage that is not registered use type=source' : ''
  return {
    code: 'bad_drive_name',
    detail: `"${text.slice(0, 80)}" must be the name of a drive: 1 to 63 letters, digits, "_", "." or "-"${hint}`,
  }
}

/** What is wrong with a mode by its name. */
export function modeFlaw(text: string): Flaw | null {
  return isMode(text)
    ? null
    : { code: 'unknown_value', detail: `mode must be one of ${MOUNT_MODES.join(', ')}, not "${text.slice(0, 40)}"` }
}

/** What is wrong with a part of a drive. */
export const subPathFlaw = (text: string): Flaw | null => objectKeyFlaw(text.replace(/\/$/, ''))

/** What is wrong with a way to say credentials in one word. */
export function credentialsFlaw(text: string): Flaw | null {
  return NAME_PATTERN.test(text) ? null : { code: 'bad_credentials', detail: 'credentials must be none, ambient, or the name of a secret' }
}

/** The mount of a registered drive. */
export const driveMountOf = ({ source, path, access, mode, subPath }: DriveWords): DriveMount =>
  normaliseDriveMount({
    type: 'drive',
    drive: managedNameOf(source) ?? source,
    ...(path !== undefined && { path }),
    ...(access !== undefined && { access }),
    ...(isMode(mode) && { mode }),
    ...(subPath !== undefined && { subPath }),
  })

/** The mount of an unregistered source, or what is wrong with it. */
export function sourceMountOf(
  words: DriveWords,
): { readonly ok: true; readonly mount: SourceMount } | { readonly ok: false; readonly flaws: readonly Flaw[] } {
  const url = readDriveUrl(words.source)
  if (!url.ok) return { ok: false, flaws: [url.flaw] }
  const read = parseBody(SourceBody, {
    ...url.fields,
    ...(words.credentials !== undefined && { credentials: methodOf(words.credentials) }),
  })
  if (!read.ok)
    return { ok: false, flaws: read.faults.map(({ pointer, code, detail }) => ({ code, detail: `${pointer.slice(1)}: ${detail}` })) }
  const { path, access, mode } = words
  const subPath = [url.subPath, words.subPath].filter(Boolean).join('/')
  if (url.subPath !== '' && (mode === 'mount' || mode === 'cached')) {
    return {
      ok: false,
      flaws: [{ code: 'requires_prefix', detail: `mode ${mode} needs a directory: "${words.source.slice(0, 80)}" must end in /` }],
    }
  }
  const mount = normaliseSourceMount({
    type: 'source',
    source: read.value,
    ...(path !== undefined && { path }),
    ...(access !== undefined && { access }),
    ...(isMode(mode) && { mode }),
    ...(subPath !== '' && { subPath }),
  })
  return { ok: true, mount }
}

const methodOf = (word: string) => (word === 'none' || word === 'ambient' ? { method: word } : { method: 'secret', secret: word })

const isMode = (text: string | undefined): text is MountMode => (MOUNT_MODES as readonly (string | undefined)[]).includes(text)
