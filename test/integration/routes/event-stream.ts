import type { AddressInfo } from 'node:net'
import { request, type IncomingMessage } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { API_KEY } from './test-api.ts'

export interface StreamedEvent {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: unknown
}

/** Opens an address as a client does, over a socket; the answer is not read yet. */
export async function openStream(app: FastifyInstance, path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    request({ port, host: '127.0.0.1', path, headers: { authorization: `Bearer ${API_KEY}`, ...headers } }, resolve)
      .on('error', reject)
      .end()
  })
}

/** Events of an SSE answer as they come, until it ends. Comments and `retry` are left out. */
export async function* readStream(response: IncomingMessage): AsyncGenerator<StreamedEvent> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += String(chunk)
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
      const data = field('data')
      if (data !== undefined) yield { id: field('id'), event: field('event'), data: JSON.parse(data) as unknown }
    }
  }
}

export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = []
  for await (const item of source) items.push(item)
  return items
}

/** Looks until it is so. */
export async function until(isSo: () => boolean, ms = 5_000): Promise<void> {
  for (const end = Date.now() + ms; !isSo();) {
    if (Date.now() > end) throw new Error('it did not come to pass')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
