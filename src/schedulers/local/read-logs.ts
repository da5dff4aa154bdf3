import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { LOG_STREAMS } from '../../domain/attempt.ts'
import type { LogChunk, LogOptions, LogStream } from '../../domain/attempt.ts'
import { unlessMissing } from './errors.ts'
import { FolderChanges } from './folder-changes.ts'
import { REPLICA_FILES } from './folders.ts'
import { exists, readStart } from './replica-facts.ts'

/** Bytes of a replica's output from its folder, at most 256 KiB at once; with `follow` until all was given that will ever come. */
export async function* readLogs(folder: string, options: LogOptions, signal: AbortSignal): AsyncGenerator<LogChunk> {
  const position: Record<LogStream, number> = { ...options.from }
  const files = new Map<LogStream, FileHandle>()
  const changes = options.follow ? new FolderChanges(folder) : null
  try {
    for (;;) {
      const over = !options.follow || await isOver(folder)
      for (const stream of LOG_STREAMS) {
        const file = files.get(stream) ?? await open(join(folder, stream)).catch(unlessMissing(null))
        if (file === null) continue
        files.set(stream, file)
        for await (const bytes of bytesFrom(file, position[stream], signal)) {
          yield { stream, offset: position[stream], bytes }
          position[stream] += bytes.length
        }
      }
      if (over || signal.aborted) return
      await changes?.next(LOOK_AGAIN_MS, signal)
    }
  } finally {
    changes?.close()
    await Promise.all([...files.values()].map((file) => file.close()))
  }
}

const CHUNK_BYTES = 256 * 1024
/** Watches may miss something. */
const LOOK_AGAIN_MS = 1000

/** Up to where the file ends when this begins: one busy stream must not keep the other waiting. */
async function* bytesFrom(file: FileHandle, from: number, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { size } = await file.stat()
  for (let position = from; position < size && !signal.aborted;) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, size - position))
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
    position += bytesRead
  }
}

/** Nothing is written any more: it ended, or its supervisor is gone, or all of it is. */
async function isOver(folder: string): Promise<boolean> {
  if (await exists(join(folder, REPLICA_FILES.exit))) return true
  const start = await readStart(folder)
  return start === null ? !await exists(folder) : !start.alive
}
