import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptHandle, LogChunk, LogStream } from '../../domain/attempt.ts'
import { appendLog, logSizes, type LogOwner, type LogPiece } from '../../db/statements/append-log.ts'
import type { Scheduler } from '../../schedulers/scheduler.ts'
import { cutOutput } from './cut-output.ts'
import type { ServiceDeps } from '../service-deps.ts'

const SEGMENT_BYTES = 256 * 1024
/** Output waits no longer than this before it can be read. */
const FLUSH_MS = 100

export interface CopyLogs {
  readonly scheduler: Scheduler
  readonly handle: AttemptHandle
  readonly owner: LogOwner
  /** Until the replica has ended; otherwise what is there now. */
  readonly follow: boolean
}

/**
 * Copies a replica's output into the database from where it was left, byte for byte, up to the operator's limit. Safe to run twice at once:
 * each append states where it begins, and the slower reader starts again from what is stored by then.
 *
 * @throws SchedulerError `unavailable`
 */
export async function copyLogs(deps: ServiceDeps, copy: CopyLogs, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const from = await logSizes(deps.pool, copy.owner)
    const options = { role: copy.owner.role, index: copy.owner.index, from, follow: copy.follow }
    const overtaken = await storeAll(deps, copy.owner, copy.scheduler.logs(copy.handle, options, signal))
    if (!overtaken) return
    await sleep(FLUSH_MS)
  }
}

/** True when another reader stored something meanwhile, so that what we hold no longer fits. */
async function storeAll(deps: ServiceDeps, owner: LogOwner, chunks: AsyncIterable<LogChunk>): Promise<boolean> {
  const buffer = new SegmentBuffer()
  let storing: Promise<boolean> = Promise.resolve(true)
  const store = (): Promise<boolean> => {
    const pieces = buffer.take()
    if (pieces.length === 0) return storing
    storing = storing.then(async (whole) => whole && (await appendLog(deps.pool, owner, pieces)))
    storing = storing.then((whole) => (deps.signals.notify(`log:${owner.attemptId}`), whole))
    storing.catch(() => undefined)
    return storing
  }
  const timer = setInterval(() => void store(), FLUSH_MS)
  try {
    for await (const whole of chunks) {
      const chunk = cutOutput(whole, deps.maxLogBytes)
      if (chunk === null) continue
      buffer.add(chunk)
      if (buffer.size >= SEGMENT_BYTES && !(await store())) return true
    }
    return !(await store())
  } finally {
    clearInterval(timer)
    await storing.catch(() => undefined)
  }
}

/** Joins neighbouring chunks of one stream into pieces, keeping the order in which the streams alternate. */
class SegmentBuffer {
  size = 0
  #pieces: { stream: LogStream; start: number; parts: Uint8Array[]; size: number }[] = []

  add({ stream, offset, bytes }: LogChunk): void {
    const last = this.#pieces.at(-1)
    if (last?.stream === stream && last.start + last.size === offset && last.size < SEGMENT_BYTES) {
      last.parts.push(bytes)
      last.size += bytes.length
    } else {
      this.#pieces.push({ stream, start: offset, parts: [bytes], size: bytes.length })
    }
    this.size += bytes.length
  }

  take(): LogPiece[] {
    const pieces = this.#pieces.map(({ stream, start, parts }) => ({ stream, start, bytes: Buffer.concat(parts) }))
    this.#pieces = []
    this.size = 0
    return pieces
  }
}
