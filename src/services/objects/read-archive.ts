import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, type Header } from 'tar-stream'
import { objectKeyFlaw } from '../../domain/drives/object-key.ts'
import { Problem } from '../../domain/problem.ts'

/** Of an archive that is taken in; what has more is put in object by object. */
const MOST_ENTRIES = 100_000
/** Headers, with long names, between two files: a header that claims more would be gathered in memory. */
const MOST_HEADER_BYTES = 1024 * 1024

export interface ArchiveReader {
  /** Given each file in turn; must read the content to its end. @param path relative, plain, and no other's */
  readonly file: (path: string, content: Readable) => Promise<void>
  readonly signal: AbortSignal
}

/**
 * Reads a tar stream that nobody vouches for: plain files and directories only, each at a relative, plain path of its
 * own. Links, devices, paths that are absolute or climb are refused; nothing is ever made on a disk by name.
 *
 * @throws Problem `bad_archive`
 */
export async function readArchive(body: Readable, reader: ArchiveReader): Promise<void> {
  const archive = extract()
  const seen = new Set<string>()
  const headers = headerGauge()
  archive.on('entry', (header, content, next) => {
    // What it broke of is told by the archive.
    content.on('error', () => undefined)
    headers.enter()
    take(header, { content: content as unknown as Readable, seen, reader }).then(
      () => {
        headers.leave()
        setImmediate(next)
      },
      (error: unknown) => archive.destroy(error instanceof Error ? error : new Error(String(error))),
    )
  })
  try {
    await pipeline(body, headers.stream, archive, { signal: reader.signal })
  } catch (error) {
    if (error instanceof Problem || (error instanceof Error && error.name === 'StoreError')) throw error
    throw new Problem('bad_archive', `The archive cannot be read to its end: ${error instanceof Error ? error.message : String(error)}.`, {
      cause: error,
    })
  }
}

interface Taking {
  readonly content: Readable
  readonly seen: Set<string>
  readonly reader: ArchiveReader
}

async function take({ name, type }: Header, { content, seen, reader }: Taking): Promise<void> {
  const path = name.replace(/^(\.\/)+/, '').replace(/\/$/, '')
  const isRoot = path === '' || path === '.'
  if (type !== 'file' && type !== 'directory')
    throw refused(name, `is a ${type ?? 'thing of unknown type'}: only files and directories are taken`)
  const flaw = isRoot ? null : objectKeyFlaw(path)
  if (flaw !== null) throw new Problem('bad_archive', `An entry ${flaw.detail}.`)
  if (type === 'directory') {
    content.resume()
    return
  }
  if (isRoot || name.endsWith('/')) throw refused(name, 'is a file without a name')
  if (seen.has(path)) throw refused(name, 'is there twice')
  seen.add(path)
  if (seen.size > MOST_ENTRIES) throw new Problem('bad_archive', `The archive holds more than ${MOST_ENTRIES} files.`)
  await reader.file(path, content)
}

const refused = (name: string, why: string): Problem => new Problem('bad_archive', `The entry "${name.slice(0, 80)}" ${why}.`)

function headerGauge() {
  let bytes = 0
  let inside = false
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (!inside) bytes += chunk.byteLength
      done(bytes > MOST_HEADER_BYTES + chunk.byteLength ? new Problem('bad_archive', 'A header of the archive is too large.') : null, chunk)
    },
  })
  const reset = (now: boolean) => (): void => {
    inside = now
    bytes = 0
  }
  return { stream, enter: reset(true), leave: reset(false) }
}
