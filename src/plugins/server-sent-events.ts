import { pump } from './pump.ts'
import type { StreamWriter } from './stream-writer.ts'

/** One server-sent event; without a name it is the default `message`. */
export interface ServerSentEvent {
  /** Sent back by the client as `Last-Event-ID` when it resumes. */
  readonly id?: number | string
  readonly event?: string
  /** Plain JSON. */
  readonly data: unknown
}

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

const RETRY_MS = 2_000
const HEARTBEAT_MS = 15_000
/** Streams end by themselves now and then, so that clients prove that they can resume. */
const MAX_AGE_MS = 30 * 60_000
/** No white space and no control characters: nothing that could begin another field or another event. */
const TOKEN = /^[\x21-\x7e]+$/

/** An event as text. @throws TypeError when the id or the name could forge another event. */
export function encodeEvent({ id, event, data }: ServerSentEvent): string {
  for (const token of [id, event]) {
    if (token !== undefined && !TOKEN.test(String(token))) throw new TypeError('an event id or name is one printable word')
  }
  const head = `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}`
  return `${head}data: ${JSON.stringify(data)}\n\n`
}

/**
 * Writes events, handful by handful, until the source or the client ends, with heartbeats in between. What the source throws goes to
 * `onError`, and what that returns is sent as the data of a last event named `problem`.
 */
export async function sendEvents(
  writer: StreamWriter,
  source: AsyncIterator<readonly ServerSentEvent[]>,
  onError: (error: unknown) => unknown,
): Promise<void> {
  const heartbeat = setInterval(() => writer.writeIfIdle(': \n\n'), HEARTBEAT_MS)
  const age = setTimeout(() => writer.abort('too_old'), MAX_AGE_MS)
  try {
    await writer.write(`retry: ${RETRY_MS}\n\n`)
    await pump(source, writer.signal, (events) => writer.write(events.map(encodeEvent).join('')))
  } catch (error) {
    await writer.write(encodeEvent({ event: 'problem', data: onError(error) }))
  } finally {
    clearInterval(heartbeat)
    clearTimeout(age)
    writer.end()
  }
}
