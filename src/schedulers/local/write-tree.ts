import { createWriteStream } from 'node:fs'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { makeDirectory } from '../../make-directory.ts'
import { inLanes } from '../../in-lanes.ts'
import { SchedulerError, type StagedFile, type StagedTree, type TreeCopying } from '../scheduler.ts'
import { errorCode } from './errors.ts'

const FILES_AT_ONCE = 4

export interface TreeWriting {
  /** Whether the replica may change the files, as whatever user it has. */
  readonly writable: boolean
  readonly signal: AbortSignal
  /** Told after each file. */
  readonly onFile: (size: number) => void
}

/** Writes every file of a tree below a directory, several at once. @throws SchedulerError `rejected` with `mount_failed` on a full disk */
export async function writeTree(directory: string, tree: StagedTree, writing: TreeWriting): Promise<void> {
  const { signal, onFile } = writing
  const mode = writing.writable ? 0o666 : 0o644
  try {
    const parents = new Set(tree.files.map(({ path }) => dirname(join(directory, path))))
    for (const parent of parents.add(directory)) await makeDirectory(parent, writing.writable ? 0o777 : 0o755)
    if (tree.copyTo !== null) await tree.copyTo(directory, { mode, signal, onFile })
    else await inLanes(FILES_AT_ONCE, tree.files, (file) => writeFile(join(directory, file.path), file, { mode, signal, onFile }))
  } catch (error) {
    throw explained(error)
  }
}

async function writeFile(path: string, file: StagedFile, { mode, signal, onFile }: TreeCopying): Promise<void> {
  const body = await file.open(signal)
  const out = createWriteStream(path, { mode, highWaterMark: 1024 * 1024 })
  await pipeline(body, out, { signal })
  if (out.bytesWritten !== file.size) {
    throw new SchedulerError('unavailable', `"${file.path}" came with ${out.bytesWritten} bytes, not ${file.size}`)
  }
  onFile(file.size)
}

function explained(error: unknown): unknown {
  const code = errorCode(error)
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error
  return new SchedulerError('rejected', 'disk_full: no space is left for the files of a drive', { cause: error, failure: 'mount_failed' })
}
