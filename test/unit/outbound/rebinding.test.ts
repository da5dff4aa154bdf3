import type * as Dns from 'node:dns'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { post, type PostAnswer } from '../../../src/outbound/post.ts'
import { createWebhookAccess } from '../../../src/outbound/webhook-access.ts'

/** What the name servers say, one answer after the other; the last one for ever. */
const dns = vi.hoisted(() => ({ answers: [] as string[][], asked: 0 }))
vi.mock('node:dns', async (original) => ({
  ...(await original<typeof Dns>()),
  lookup: (_name: string, _options: object, done: (error: null, addresses: Dns.LookupAddress[]) => void) => {
    const addresses = dns.answers[Math.min(dns.asked, dns.answers.length - 1)] ?? []
    dns.asked += 1
    done(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    )
  },
}))

/** 127.0.0.2 stands for an address that is allowed; 127.0.0.1 is not. */
const access = createWebhookAccess(['127.0.0.2/32'])

describe('a name that changes its mind', () => {
  let server: Server
  let port: number
  const hits: string[] = []
  beforeAll(async () => {
    server = createServer((request, answer) => {
      hits.push(request.socket.localAddress ?? '')
      answer.end()
    })
    await once(server.listen(0, '0.0.0.0'), 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => void server.close())
  beforeEach(() => {
    hits.length = 0
    dns.asked = 0
  })

  const send = (): Promise<PostAnswer> => {
    const url = new URL(`http://rebind.test:${port}/`)
    const signal = new AbortController().signal
    return post({ url, headers: {}, body: '{}', agents: access.agentsFor(url), timeoutMs: 2_000, maxAnswerBytes: 10, signal })
  }

  it('is asked once, and connected to where that answer was looked at', async () => {
    dns.answers = [['127.0.0.2'], ['127.0.0.1']]
    expect((await send()).status).toBe(200)
    expect([dns.asked, hits]).toEqual([1, ['127.0.0.2']])
  })

  it('is refused from then on', async () => {
    dns.answers = [['127.0.0.1']]
    await expect(send()).rejects.toMatchObject({ code: 'BERTH_FORBIDDEN_ADDRESS' })
    expect(hits).toEqual([])
  })

  it.each([[['127.0.0.2', '127.0.0.1']], [['127.0.0.1', '127.0.0.2']], [[]]])(
    'is refused where one of its addresses is forbidden, or it has none: %j',
    async (answer) => {
      dns.answers = [answer]
      await expect(send()).rejects.toMatchObject({ code: 'BERTH_FORBIDDEN_ADDRESS' })
      expect(hits).toEqual([])
    },
  )
})
