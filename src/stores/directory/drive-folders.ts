import { join } from 'node:path'

/** Where the parts of one managed drive are. `data` alone is ever mounted. */
export interface DriveFolders {
  readonly root: string
  readonly data: string
  /** Content type and digest of each object, in files named after its key and version. */
  readonly meta: string
  /** Uploads under way. */
  readonly uploads: string
  readonly batches: string
  readonly locks: string
}

/** @param store folder of all managed drives */
export function driveFolders(store: string, driveId: string): DriveFolders {
  const root = join(store, driveId)
  const at = (name: string): string => join(root, name)
  return { root, data: at('data'), meta: at('meta'), uploads: at('uploads'), batches: at('batches'), locks: at('locks') }
}

/** The directory of a key, and its last name. */
export function split(key: string): { readonly parts: readonly string[]; readonly name: string } {
  const parts = key.split('/')
  return { parts: parts.slice(0, -1), name: parts.at(-1) ?? '' }
}
