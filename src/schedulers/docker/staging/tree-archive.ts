import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { pack, type Pack } from 'tar-stream'
import type { StagedFile, StagedTree } from '../../scheduler.ts'

/** Bodies that are opened before their turn, so that the daemon never waits for the first byte of a small file. */
const OPEN_AHEAD = 16
const SMALL_BYTES = 64 * 1024

export interface ArchiveOptions {
  /** Owner of every file. */
  readonly uid: number
  readonly gid: number
  /** Whether others than the owner may change the files. */
  readonly shared: boolean
  readonly signal: AbortSignal
  /** Told after each file. */
  readonly onFile: (size: number) => void
}

/** A tree as a tar stream, which breaks when a file of it does. */
export function archiveOf(tree: StagedTree, options: ArchiveOptions): Readable {
  const archive = pack({ highWaterMark: 1024 * 1024 })
  void fill(archive, tree.files, options).then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))),
  )
  return archive as unknown as Readable
}

async function fill(archive: Pack, files: readonly StagedFile[], options: ArchiveOptions): Promise<void> {
  const { uid, gid, shared, signal, onFile } = options
  const owner = { uid, gid, mtime: new Date(0) }
  for (const name of directoriesOf(files)) archive.entry({ name, type: 'directory', mode: shared ? 0o777 : 0o755, ...owner })
  const ahead: Promise<Readable | Buffer>[] = []
  for (const [index, file] of files.entries()) {
    for (let next = index + ahead.length; next < Math.min(index + OPEN_AHEAD, files.length); next += 1)
      ahead.push(opened(files[next], signal))
    const content = await ahead.shift()
    if (content === undefined) throw new Error('a file was not opened')
    const header = { name: file.path, size: file.size, mode: shared ? 0o666 : 0o644, ...owner }
    await (Buffer.isBuffer(content) ? addSmall(archive, header, content) : pipeline(content, archive.entry(header)))
    onFile(file.size)
  }
}

/** A small file whole: a stream for each would take longer than the file. */
async function opened(file: StagedFile | undefined, signal: AbortSignal): Promise<Readable | Buffer> {
  if (file === undefined) throw new Error('there is no such file')
  const body = await file.open(signal)
  // What goes wrong is told to whoever reads it; until then nobody must fall over it.
  body.on('error', () => undefined)
  const content = file.size > SMALL_BYTES ? body : buffer(body)
  if (content instanceof Promise) content.catch(() => undefined)
  return content
}

const addSmall = (archive: Pack, header: Parameters<Pack['entry']>[0], content: Buffer): Promise<void> =>
  new Promise((resolve, reject) => void archive.entry(header, (error) => (error ? reject(error) : resolve())).end(content))

function directoriesOf(files: readonly StagedFile[]): readonly string[] {
  const all = new Set<string>()
  for (const { path } of files) {
    const parts = path.split('/').slice(0, -1)
    for (let depth = 1; depth <= parts.length; depth += 1) all.add(parts.slice(0, depth).join('/'))
  }
  return [...all].sort()
}
