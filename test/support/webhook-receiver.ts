import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** As it came, for signatures. */
  readonly text: string
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: Record<string, unknown> }
  /** When, on this process's clock, in milliseconds. */
  readonly at: number
}

export type Answer = number | ((message: Received, answer: ServerResponse) => void)

/** Takes messages at any path, and answers as it is told to: 204 if nothing was said. */
export class WebhookReceiver {
  readonly received: Received[] = []
  answer: (message: Received) => Answer = () => 204
  readonly #server = createServer((request, answer) => void this.#take(request, answer))

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver()
    await once(receiver.#server.listen(0, '127.0.0.1'), 'listening')
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  url(path = '/'): string {
    return `http://127.0.0.1:${this.port}${path}`
  }

  at(path: string): Received[] {
    return this.received.filter((message) => message.path === path)
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => void this.#server.close(resolve))
  }

  async #take(request: IncomingMessage, answer: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const body = JSON.parse(text) as Received['body']
    const message = { path: request.url ?? '', headers: request.headers, text, body, at: performance.now() }
    this.received.push(message)
    const told = this.answer(message)
    if (typeof told === 'number') answer.writeHead(told).end()
    else told(message, answer)
  }
}
