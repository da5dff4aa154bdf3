import { EventEmitter } from 'node:events'
import pg from 'pg'
import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { Pulse } from './pulse.ts'

/**
 * Doorbells between processes over LISTEN/NOTIFY: a topic and nothing else, so that a lost one costs only time.
 * Topics: `due` (attempts to ring for), `job:<id>` (new events), `log:<attempt id>` (new output),
 * `drive:<id>` (changed objects), `commit:<batch id>` (it is visible), `webhooks` (messages to send).
 */
export interface Signals {
  /** Wakes every waiter on the topic, in all processes. Many calls within 10 ms become one. */
  notify(topic: string): void
  /** Begins to listen. Listen first, then read what the signal is about: what comes in between is not missed. */
  listen(topic: string): Bell
  close(): Promise<void>
}

export interface Bell {
  /** Resolves at once if it rang since the last call, else when it rings, after `ms`, or when aborted; never rejects. */
  next(ms: number, signal: AbortSignal): Promise<void>
  close(): void
}

const CHANNEL = 'berth'
const FLUSH_MS = 10
const RECONNECT_MS = 500
const CONNECT_MS = 3_000

export interface Listening {
  /** Of the database; one connection of its own is kept for listening, and reconnected for ever. */
  readonly connectionString: string
  readonly pulse: Pick<Pulse, 'guard'>
}

export function createSignals(pool: Pool, listening: Listening, log: Logger): Signals {
  const local = new EventEmitter().setMaxListeners(0)
  const pending = new Set<string>()
  const listener = listenForever(listening, (topic) => local.emit(topic), log)
  let flushing: NodeJS.Timeout | undefined

  const flush = (): void => {
    flushing = undefined
    const topics = [...pending]
    pending.clear()
    pool
      .query(`SELECT pg_notify('${CHANNEL}', topic) FROM unnest($1::text[]) AS topic`, [topics])
      .catch((error: unknown) => log.debug({ err: error }, 'a doorbell was not rung; the polls will do'))
  }

  return {
    notify(topic) {
      local.emit(topic)
      pending.add(topic)
      flushing ??= setTimeout(flush, FLUSH_MS)
    },
    listen: (topic) => hangBell(local, topic),
    async close() {
      clearTimeout(flushing)
      await listener.close()
    },
  }
}

function hangBell(emitter: EventEmitter, topic: string): Bell {
  let rung = false
  let wake: (() => void) | undefined
  const ring = (): void => {
    rung = true
    wake?.()
  }
  emitter.on(topic, ring)
  return {
    async next(ms, signal) {
      if (!rung && !signal.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          wake = () => (clearTimeout(timer), resolve())
          signal.addEventListener('abort', wake, { once: true })
        })
        if (wake) signal.removeEventListener('abort', wake)
        wake = undefined
      }
      rung = false
    },
    close: () => void emitter.off(topic, ring),
  }
}

function listenForever({ connectionString, pulse }: Listening, onTopic: (topic: string) => void, log: Logger): { close(): Promise<void> } {
  let closed = false
  let client: pg.Client | undefined
  const connect = async (): Promise<void> => {
    if (closed) return
    const next = new pg.Client({ connectionString, keepAlive: true, connectionTimeoutMillis: CONNECT_MS, application_name: 'berth-listen' })
    client = next
    pulse.guard(next)
    next.on('notification', ({ payload }) => payload !== undefined && onTopic(payload))
    next.on('error', (error) => log.debug({ err: error }, 'the listening connection broke'))
    next.on('end', () => setTimeout(() => void connect(), RECONNECT_MS).unref())
    try {
      await next.connect()
      await next.query(`LISTEN ${CHANNEL}`)
    } catch (error) {
      log.debug({ err: error }, 'cannot listen yet')
      await next.end().catch(() => undefined)
    }
  }
  const first = connect()
  return {
    async close() {
      closed = true
      await first
      await client?.end().catch(() => undefined)
    },
  }
}
