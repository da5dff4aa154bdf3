import { createHash, randomUUID } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { makeDirectory } from '../../make-directory.ts'
import { StoreError, type WriteOptions } from '../object-store.ts'
import { codeOf } from './contained.ts'
import { diskError } from './disk-error.ts'
import type { DriveFolders } from './drive-folders.ts'
import { etagOf } from './object-file.ts'

const AT_ONCE_BYTES = 1024 * 1024

export interface Upload {
  /** A whole, synchronised file that nobody sees. */
  readonly path: string
  readonly etag: string
  readonly size: number
  readonly sha256: string
  readonly modifiedAt: Date
}

/** Gathers the bytes of an object in a file of their own. @throws StoreError `too_large`, `digest_mismatch`, `full`, `unavailable` */
export async function receive(folders: DriveFolders, body: Readable, options: Omit<WriteOptions, 'condition'>): Promise<Upload> {
  await makeDirectory(folders.uploads)
  const path = join(folders.uploads, randomUUID())
  const handle = await open(path, 'wx', 0o666)
  try {
    const hash = createHash('sha256')
    await pipeline(body, gauge(hash, options.maxBytes ?? Infinity), into(handle), { signal: options.signal })
    const sha256 = hash.digest('hex')
    if (options.sha256 !== undefined && options.sha256 !== sha256) {
      throw new StoreError('digest_mismatch', `the bytes hash to sha-256 ${sha256}, not to ${options.sha256}`)
    }
    await handle.chmod(0o666)
    await handle.sync()
    const stats = await handle.stat({ bigint: true })
    return { path, etag: etagOf(stats), size: Number(stats.size), sha256, modifiedAt: new Date(Number(stats.mtimeNs / 1_000_000n)) }
  } catch (error) {
    await rm(path, { force: true })
    throw body.errored === null ? explained(error) : brokenOff(body.errored)
  } finally {
    await handle.close()
  }
}

/** Writes a MiB at a time, while the next one gathers. The handle stays open. */
const into =
  (handle: FileHandle) =>
  async (source: AsyncIterable<Buffer>): Promise<void> => {
    let gathered: Buffer[] = []
    let bytes = 0
    for await (const chunk of source) {
      gathered.push(chunk)
      bytes += chunk.byteLength
      if (bytes < AT_ONCE_BYTES) continue
      await writeAll(handle, Buffer.concat(gathered))
      gathered = []
      bytes = 0
    }
    await writeAll(handle, Buffer.concat(gathered))
  }

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.byteLength;) at += (await handle.write(bytes, at)).bytesWritten
}

function gauge(hash: ReturnType<typeof createHash>, maxBytes: number): Transform {
  let bytes = 0
  return new Transform({
    highWaterMark: AT_ONCE_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.byteLength
      if (bytes > maxBytes) return done(new StoreError('too_large', `more than the ${maxBytes} bytes that are still allowed`))
      hash.update(chunk)
      done(null, chunk)
    },
  })
}

/** What a store or the domain says of a body it says itself; anything else is a connection that is gone. */
const brokenOff = (error: Error): unknown =>
  ['StoreError', 'Problem', 'SchedulerError'].includes(error.name)
    ? error
    : new StoreError('unavailable', 'the upload was cut off', { cause: error })

function explained(error: unknown): unknown {
  const code = codeOf(error)
  if (code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ABORT_ERR' || code === 'ECONNRESET') {
    return new StoreError('unavailable', 'the upload was cut off', { cause: error })
  }
  return diskError(error)
}
