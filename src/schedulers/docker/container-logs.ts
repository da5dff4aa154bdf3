import { setTimeout as sleep } from 'node:timers/promises'
import type { LogChunk, LogOptions, LogStream } from '../../domain/attempt.ts'
import { SchedulerError } from '../scheduler.ts'
import type { Engine } from './engine.ts'
import { byStanding, findContainers, inspectContainer, isReplica } from './find-containers.ts'
import { demultiplexLogs } from './log-demultiplexer.ts'
import { LostNewlines } from './lost-newlines.ts'
import { isTorn, observeState } from './status.ts'

/** Whose output is read. */
export interface LogSource {
  readonly engine: Engine
  readonly installation: string
  readonly attemptId: string
  readonly options: LogOptions
}

/**
 * Output of a replica's container. A stream that ended says nothing: followers end at a log rotation or a stop of the daemon
 * as well. So the end is believed only of a reading that began after the container's own end; until then it is read again
 * from its first byte, and what was given is skipped.
 */
export async function* readContainerLogs(source: LogSource, signal: AbortSignal): AsyncGenerator<LogChunk> {
  const { engine, options: { follow } } = source
  const id = await findContainer(source, signal)
  const next = { ...source.options.from }
  let failures = 0
  while (id !== null) {
    const container = await inspectContainer(engine, id, signal)
    if (container === null || isTorn(container.State)) return
    const { phase } = observeState(container.State, { node: null, startedAt: null })
    if (phase === 'pending') {
      if (!follow) return
      await sleep(50, undefined, { signal })
      continue
    }
    const before = next.stdout + next.stderr
    const failure = yield* readOnce({ engine, id, follow: follow && phase === 'running' }, next, signal)
    if (failure === null && (phase !== 'running' || !follow)) return
    failures = failure === null || next.stdout + next.stderr > before ? 0 : failures + 1
    if (failures >= 5) throw new SchedulerError('unavailable', `the output cannot be read: ${String(failure)}`, { cause: failure })
    if (failure !== null) await sleep(200, undefined, { signal })
  }
}

async function findContainer({ engine, installation, attemptId, options }: LogSource, signal: AbortSignal): Promise<string | null> {
  const found = await findContainers(engine, { installation, attempt: attemptId }, signal)
  const candidates = found.filter(isReplica).filter(({ identity }) => identity.role === options.role && identity.index === options.index)
  return candidates.sort(byStanding)[0]?.id ?? null
}

interface Reading {
  readonly engine: Engine
  readonly id: string
  readonly follow: boolean
}

/**
 * From the first byte on, but gives only what is new, and moves `next` on.
 * @returns null after a proper end, else what broke the stream
 */
async function* readOnce(reading: Reading, next: Record<LogStream, number>, signal: AbortSignal): AsyncGenerator<LogChunk, unknown> {
  const { engine, id, follow } = reading
  const query = { stdout: true, stderr: true, follow }
  const position = { stdout: 0, stderr: 0 }
  const response = await engine.stream({ method: 'GET', path: `/containers/${id}/logs`, query, signal })
  try {
    for await (const { stream, bytes } of demultiplexLogs(response, new LostNewlines())) {
      const start = position[stream]
      position[stream] += bytes.length
      const given = Math.max(0, next[stream] - start)
      if (given >= bytes.length) continue
      const chunk = { stream, offset: start + given, bytes: bytes.subarray(given) }
      next[stream] = position[stream]
      yield chunk
    }
    return null
  } catch (error) {
    signal.throwIfAborted()
    return error
  } finally {
    response.destroy()
  }
}
