import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What is to happen to a request instead of being passed on as it is. */
export interface HttpFault {
  /** Answered with this and no more. */
  readonly status?: number
  readonly body?: string
  /** Milliseconds before it is passed on. */
  readonly delayMs?: number
  /** Passed on, and the connection cut before the answer. */
  readonly loseAnswer?: true
  /** The answer's body ends after so many bytes, and the connection with it. */
  readonly cutAfter?: number
}

export interface HttpProxy {
  readonly url: string
  /** Requests so far. */
  readonly seen: () => number
  stop(): Promise<void>
}

/** Stands before an HTTP server. @param faultOf of the n-th request, from 1 */
export async function startHttpProxy(
  target: string,
  faultOf: (n: number, request: IncomingMessage) => HttpFault | null,
): Promise<HttpProxy> {
  let seen = 0
  const server = createServer((incoming, answer) => {
    seen += 1
    void pass(target, { incoming, answer, fault: faultOf(seen, incoming) ?? {} })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: () => seen,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}

interface Exchange {
  readonly incoming: IncomingMessage
  readonly answer: ServerResponse
  readonly fault: HttpFault
}

async function pass(target: string, { incoming, answer, fault }: Exchange): Promise<void> {
  if (fault.delayMs !== undefined) await sleep(fault.delayMs)
  if (fault.status !== undefined) {
    incoming.resume()
    answer.writeHead(fault.status, { 'content-type': 'application/xml' }).end(fault.body)
    return
  }
  // The signature covers the host that the client has named.
  const sent = request(target, { method: incoming.method, path: incoming.url, headers: incoming.headers }, (got) => {
    if (fault.loseAnswer) {
      got.resume().once('end', () => answer.destroy())
      return
    }
    answer.writeHead(got.statusCode ?? 500, got.headers)
    let bytes = 0
    got.on('data', (chunk: Buffer) => {
      bytes += chunk.byteLength
      answer.write(chunk)
      if (bytes >= (fault.cutAfter ?? Infinity)) answer.destroy()
    })
    got.once('end', () => answer.end())
  })
  sent.once('error', () => answer.destroy())
  incoming.pipe(sent)
}
