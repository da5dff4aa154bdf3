import { lstat, readdir, type FileHandle } from 'node:fs/promises'
import type { Dirent } from 'node:fs'
import { objectKeyFlaw } from '../../domain/drives/object-key.ts'
import type { ListOptions, ObjectInfo, ObjectPage } from '../object-store.ts'
import { inside, openDirectory } from './contained.ts'
import { infoOf } from './object-file.ts'

type Found = { readonly key: string; readonly info: ObjectInfo } | { readonly key: string; readonly prefix: true }

/** A page of what lies below a directory, in the order of the keys' UTF-8 bytes, as an S3 server lists. */
export async function listObjects(root: string, options: ListOptions): Promise<ObjectPage> {
  const objects: ObjectInfo[] = []
  const prefixes: string[] = []
  let last: string | null = null
  for await (const found of walk(root, options)) {
    if (objects.length + prefixes.length === options.limit) return { objects, prefixes, next: last }
    if ('info' in found) objects.push(found.info)
    else prefixes.push(found.key)
    last = found.key
  }
  return { objects, prefixes, next: null }
}

/** Every object below a directory. */
export async function* everyObject(root: string, signal: AbortSignal): AsyncGenerator<ObjectInfo> {
  for await (const found of walk(root, { prefix: '', delimiter: null, after: null, limit: Infinity, signal }))
    if ('info' in found) yield found.info
}

async function* walk(root: string, options: ListOptions): AsyncGenerator<Found> {
  const cut = options.prefix.lastIndexOf('/') + 1
  const start = options.prefix.slice(0, cut)
  yield* walkDirectory(root, start, options)
}

/** @param path of the directory, from the root on, ending in `/` unless it is the root */
async function* walkDirectory(root: string, path: string, options: ListOptions): AsyncGenerator<Found> {
  const handle = await openDirectory(
    root,
    path.split('/').filter((part) => part !== ''),
    'null',
  ).catch(() => null)
  if (handle === null) return
  try {
    for (const entry of sorted(await readdir(inside(handle, '.'), { withFileTypes: true }))) {
      options.signal.throwIfAborted()
      const key = `${path}${entry.name}${entry.isDirectory() ? '/' : ''}`
      if (!isWanted(key, entry, options)) continue
      if (!entry.isDirectory()) yield* objectAt(handle, { key, name: entry.name }, options)
      else if (options.delimiter === '/' && key.startsWith(options.prefix)) yield* prefixAt(key, options)
      else yield* walkDirectory(root, key, options)
    }
  } finally {
    await handle.close()
  }
}

async function* objectAt(
  directory: FileHandle,
  { key, name }: { key: string; name: string },
  { after }: ListOptions,
): AsyncGenerator<Found> {
  if (after !== null && compare(key, after) <= 0) return
  const stats = await lstat(inside(directory, name), { bigint: true }).catch(() => null)
  if (stats?.isFile() === true) yield { key, info: infoOf(key, stats) }
}

function* prefixAt(key: string, { after }: ListOptions): Generator<Found> {
  if (after === null || compare(key, after) > 0) yield { key, prefix: true }
}

/** Links, devices and names that no key can have are passed over, and so are directories that the page before has left behind. */
function isWanted(key: string, entry: Dirent, { prefix, after }: ListOptions): boolean {
  if (!entry.isFile() && !entry.isDirectory()) return false
  if (objectKeyFlaw(key.replace(/\/$/, '')) !== null) return false
  const inPrefix = key.startsWith(prefix) || (entry.isDirectory() && prefix.startsWith(key))
  return inPrefix && !(entry.isDirectory() && after !== null && compare(key, after) < 0 && !after.startsWith(key))
}

/** A directory stands where its keys do: `a/x` comes after `a-x`. */
const sorted = (entries: readonly Dirent[]): readonly Dirent[] =>
  entries
    .map((entry) => ({ entry, at: Buffer.from(entry.isDirectory() ? `${entry.name}/` : entry.name) }))
    .sort((a, b) => Buffer.compare(a.at, b.at))
    .map(({ entry }) => entry)

const compare = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
