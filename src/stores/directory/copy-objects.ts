import { spawn } from 'node:child_process'
import { closeSync, constants, fstatSync, open } from 'node:fs'
import { chmod, copyFile, type FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { inLanes } from '../../in-lanes.ts'
import { StoreError, type CopyOptions, type ObjectCopy } from '../object-store.ts'
import { inside, openDirectory } from './contained.ts'
import { split, type DriveFolders } from './drive-folders.ts'
import { etagOf } from './object-file.ts'

const DIRECTORIES_AT_ONCE = 4
const FILES_AT_ONCE = 8
const LARGE_BYTES = 8 * 2 ** 20

/** Copies objects by the kernel (`copy_file_range`, or shared blocks where the file system has them), directory by directory. */
export async function copyObjects(folders: DriveFolders, copies: readonly ObjectCopy[], options: CopyOptions): Promise<void> {
  await inLanes(DIRECTORIES_AT_ONCE, byDirectory(copies), async (together) => {
    const directory = await openDirectory(folders.data, split(together[0]?.key ?? '').parts, 'null')
    if (directory === null) throw changed(together[0]?.key)
    try {
      await inLanes(FILES_AT_ONCE, together, (copy) => copyObject(directory, copy, options))
    } finally {
      await directory.close()
    }
  })
}

function byDirectory(copies: readonly ObjectCopy[]): Iterable<readonly ObjectCopy[]> {
  const groups = new Map<string, ObjectCopy[]>()
  for (const copy of copies) {
    const directory = split(copy.key).parts.join('/')
    const group = groups.get(directory)
    if (group) group.push(copy)
    else groups.set(directory, [copy])
  }
  return groups.values()
}

/**
 * The file that was opened is copied, whatever its name means meanwhile; one that changed under the copy is none. What
 * waits for nothing is asked without waiting: for small files it would take longer than the copy.
 */
async function copyObject(
  directory: FileHandle,
  { key, etag, size, to }: ObjectCopy,
  { mode, signal, onCopied }: CopyOptions,
): Promise<void> {
  signal.throwIfAborted()
  const fd = await openFile(inside(directory, split(key).name), FLAGS).catch(() => Promise.reject(changed(key)))
  try {
    const stats = fstatSync(fd, { bigint: true })
    if (etagOf(stats) !== etag) throw changed(key)
    if (size < LARGE_BYTES || !(await copyByProgram(fd, to, signal))) {
      await copyFile(`/proc/self/fd/${fd}`, to, constants.COPYFILE_FICLONE)
    }
    if (etagOf(fstatSync(fd, { bigint: true })) !== etag) throw changed(key)
    // The program leaves out what the process's mask says.
    if (size >= LARGE_BYTES || (Number(stats.mode) & 0o7777) !== mode) await chmod(to, mode)
  } finally {
    closeSync(fd)
  }
  onCopied(size)
}

const openFile = promisify(open)
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * `cp` tells the kernel that it reads in order, which Node cannot: 2.5 times as fast for 1 GiB from the page cache.
 * @returns false where it failed; Node's own copy is to say of what
 */
async function copyByProgram(fd: number, to: string, signal: AbortSignal): Promise<boolean> {
  const program = spawn('cp', ['/proc/self/fd/3', to], { stdio: ['ignore', 'ignore', 'ignore', fd], signal })
  const code = await new Promise<number | null>((resolve) => void program.once('close', resolve).once('error', () => resolve(null)))
  signal.throwIfAborted()
  return code === 0
}

const changed = (key = ''): StoreError => new StoreError('precondition_failed', `"${key}" has changed`)
