import type { Flaw } from '../fault.ts'
import { nearestName } from '../nearest-name.ts'
import { objectKeyFlaw } from './object-key.ts'

/** A source in one text, as the fields that it stands for; what it names below a directory is its `subPath`. */
export type ReadDriveUrl =
  | { readonly ok: true; readonly fields: Readonly<Record<string, unknown>> & { readonly kind: string }; readonly subPath: string }
  | { readonly ok: false; readonly flaw: Flaw }

/**
 * Reads the short form of a source. Never throws; the fields are to be checked by the schema of their kind.
 *
 * `s3://bucket/key` without a slash at its end names one object: the directory is the drive, the last part its `subPath`.
 */
export function readDriveUrl(text: string): ReadDriveUrl {
  const [, scheme = '', rest = ''] = /^([a-zA-Z0-9+.-]+):\/\/(.*)$/s.exec(text) ?? []
  const read = Object.hasOwn(SCHEMES, scheme) ? SCHEMES[scheme] : undefined
  if (read === undefined) return unknownScheme(text, scheme)
  return read(rest, text)
}

type Read = (rest: string, whole: string) => ReadDriveUrl

const SCHEMES: Readonly<Record<string, Read>> = {
  s3: (rest) => inBucket('s3', rest),
  gs: (rest) => inBucket('gcs', rest),
  gcs: (rest) => inBucket('gcs', rest),
  az: azure,
  nfs: (rest) => {
    const [server = '', ...path] = rest.split('/')
    return fields({ kind: 'nfs', server, export: `/${path.join('/')}` })
  },
  efs: (rest) => {
    const [fileSystemId = '', ...path] = rest.split('/')
    return fields({ kind: 'efs', fileSystemId, ...(path.length > 0 && path[0] !== '' && { rootDirectory: `/${path.join('/')}` }) })
  },
  lit: (rest) => (rest === '' || rest.includes('/') || rest.includes(':') ? badManaged() : fields({ kind: 'managed' })),
  http: (_, whole) => download(whole),
  https: (_, whole) => download(whole),
}

/** The name that `lit://name` stands for; null if the text is no such thing. */
export const managedNameOf = (text: string): string | null => /^lit:\/\/([^/:]+)$/.exec(text)?.[1] ?? null

const fields = (given: Readonly<Record<string, unknown>> & { readonly kind: string }, subPath = ''): ReadDriveUrl => ({
  ok: true,
  fields: given,
  subPath,
})

function inBucket(kind: 's3' | 'gcs', rest: string): ReadDriveUrl {
  const [bucket = '', ...parts] = rest.split('/')
  if (bucket === '') return refuse('bucket_missing', 'must name its bucket: s3://bucket/prefix/')
  return withKey({ kind, bucket }, parts.join('/'))
}

function azure(rest: string): ReadDriveUrl {
  const [account = '', container = '', ...parts] = rest.split('/')
  if (container === '') return refuse('bucket_missing', 'must name its account and container: az://account/container/prefix/')
  return withKey({ kind: 'azure_blob', account, container }, parts.join('/'))
}

function withKey(given: Readonly<Record<string, unknown>> & { readonly kind: string }, key: string): ReadDriveUrl {
  const flaw = key === '' ? null : objectKeyFlaw(key.replace(/\/$/, ''))
  if (flaw !== null) return { ok: false, flaw }
  const cut = key.lastIndexOf('/') + 1
  return fields({ ...given, ...(cut > 0 && { prefix: key.slice(0, cut) }) }, key.slice(cut))
}

function download(whole: string): ReadDriveUrl {
  const [url = '', hash = ''] = whole.split('#')
  const sha256 = /^sha256=([0-9a-fA-F]{64})$/.exec(hash)?.[1]
  if (sha256 === undefined) return refuse('digest_missing', 'must end in #sha256= and the 64 hexadecimal digits of its content')
  return fields({ kind: 'http', files: [{ url, sha256 }] })
}

function unknownScheme(text: string, scheme: string): ReadDriveUrl {
  const known = Object.keys(SCHEMES)
  const meant = scheme === '' ? null : nearestName(scheme, known)
  const hint = meant === null ? '' : `; did you mean ${meant}://?`
  return refuse('unknown_scheme', `"${text.slice(0, 80)}" must begin with one of ${known.map((name) => `${name}://`).join(', ')}${hint}`)
}

const badManaged = (): ReadDriveUrl => refuse('bad_drive_name', 'lit:// must be followed by the name of a drive, without / and :')

const refuse = (code: string, detail: string): ReadDriveUrl => ({ ok: false, flaw: { code, detail } })
