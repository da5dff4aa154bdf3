import { StoreError, type StoreErrorKind } from '../object-store.ts'
import { codeOf } from './contained.ts'

const MEANINGS: Readonly<Record<string, readonly [StoreErrorKind, string]>> = {
  ENOSPC: ['full', 'no space is left on the disk of the drives'],
  EDQUOT: ['full', 'the quota of the disk of the drives is used up'],
  EROFS: ['access_denied', 'the disk of the drives is read-only'],
  EACCES: ['access_denied', 'Berth may not write below the folder of the drives'],
  EPERM: ['access_denied', 'Berth may not write below the folder of the drives'],
  EIO: ['unavailable', 'the disk of the drives does not work'],
  EMFILE: ['unavailable', 'too many files are open: raise the limit of the process (ulimit -n)'],
  ENFILE: ['unavailable', 'the machine has too many open files'],
}

/** What a disk says, as a store says it; anything else as it is. */
export function diskError(error: unknown): unknown {
  const [kind, words] = MEANINGS[codeOf(error)] ?? []
  return error instanceof StoreError || kind === undefined || words === undefined ? error : new StoreError(kind, words, { cause: error })
}

/** Does something that writes to the disk of the drives. @throws StoreError for what the disk says */
export async function onDisk<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw diskError(error)
  }
}
