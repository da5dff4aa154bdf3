import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server in place of a bucket that refuses everything, and says in its words all that it was told. */
export async function startTalkativeServer(): Promise<{ readonly endpoint: string; stop(): Promise<void> }> {
  const server = createServer(({ method, url = '', headers, rawHeaders }, answer) => {
    const words = `no ${method} of ${url} nor ${decodeURIComponent(url)}, asked with ${rawHeaders.join(' ')}`.replaceAll(/[&<>]/g, ' ')
    const type = headers['x-ms-version'] === undefined ? {} : { 'x-ms-error-code': 'AuthenticationFailed' }
    answer.writeHead(403, { 'content-type': 'application/xml', ...type })
    answer.end(`<?xml version="1.0" encoding="utf-8"?><Error><Code>AccessDenied</Code><Message>${words}</Message></Error>`)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    },
  }
}
