import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

/** Why a stream ended before its source did. */
export type StreamEnd = 'client_gone' | 'shutdown' | 'too_old' | 'stalled'

/** An answer that is written piece by piece, with back-pressure. */
export interface StreamWriter {
  /** Aborted, with a `StreamEnd` as its reason, when nobody can be served any longer: stop the source. */
  readonly signal: AbortSignal
  /** Resolves when more may be written; at once, without writing, when the stream is aborted. */
  write(chunk: string | Uint8Array): Promise<void>
  /** Writes only if nothing waits to be read, so that a heartbeat never queues up. */
  writeIfIdle(chunk: string): void
  abort(reason: StreamEnd): void
  /** Ends the answer in good order. */
  end(): void
  /** Cuts the connection: the client must see that something is missing. */
  cut(): void
}

/** A client that reads nothing for so long is taken for gone. */
const STALL_MS = 60_000
const KEEP_ALIVE_MS = 30_000

/** Takes over a reply (`hijack`) and sends its head, the headers of the reply included. */
export function createStreamWriter(reply: FastifyReply, headers: Readonly<Record<string, string>>): StreamWriter {
  const { raw } = reply
  const aborter = new AbortController()
  const abort = (reason: StreamEnd): void => aborter.abort(reason)
  reply.hijack()
  // Listened for on the response: the request's own `close` comes when its body was read, or never.
  raw.once('close', () => abort('client_gone'))
  raw.on('error', () => abort('client_gone'))
  if (raw.destroyed) abort('client_gone')
  // A quiet stream is no idle connection; that the peer is there is asked by TCP instead.
  raw.socket?.setTimeout(0)
  raw.socket?.setKeepAlive(true, KEEP_ALIVE_MS)
  raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...headers })
  raw.flushHeaders()
  return {
    signal: aborter.signal,
    abort,
    async write(chunk) {
      if (aborter.signal.aborted || raw.destroyed) return
      if (!raw.write(chunk)) await drained(raw, aborter)
    },
    writeIfIdle(chunk) {
      if (!raw.destroyed && !raw.writableEnded && raw.writableLength === 0) raw.write(chunk)
    },
    end: () => void raw.end(),
    cut: () => void raw.destroy(),
  }
}

/** Resolves at `drain` or at the abort, whichever is first: after a disconnect `drain` never comes. */
function drained(raw: ServerResponse, aborter: AbortController): Promise<void> {
  return new Promise((resolve) => {
    const stalled = setTimeout(() => aborter.abort('stalled' satisfies StreamEnd), STALL_MS)
    const settle = (): void => {
      clearTimeout(stalled)
      raw.off('drain', settle)
      aborter.signal.removeEventListener('abort', settle)
      resolve()
    }
    raw.once('drain', settle)
    aborter.signal.addEventListener('abort', settle, { once: true })
  })
}
