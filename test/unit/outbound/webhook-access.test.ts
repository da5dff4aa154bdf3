import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { webhookUrlFlaw } from '../../../src/domain/webhooks/webhook-url.ts'
import { post } from '../../../src/outbound/post.ts'
import { createWebhookAccess } from '../../../src/outbound/webhook-access.ts'

/** Ways to write this machine, its neighbours and the metadata of clouds; `PORT` is where a server listens here. */
const HOSTS = [
  ...['127.0.0.1', '127.1', '127.0.1', '0177.0.0.1', '0x7f.0.0.1', '0x7f000001', '2130706433', '017700000001', '127.127.127.127'],
  ...['0.0.0.0', '0', '0x0', 'localhost', 'LOCALHOST', 'localhost.', 'a.localhost', '①②⑦.⓪.⓪.①', '127。0。0。1', '127%2e0%2e0%2e1'],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::127.0.0.1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:127.0.0.1]'],
  ...['[64:ff9b::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]', '[2002:7f00:0001::1]', '[2001:0:7f00:1::]'],
  ...['169.254.169.254', '0xa9fea9fe', '2852039166', '0251.0376.0251.0376', '[::ffff:169.254.169.254]', '[::ffff:a9fe:a9fe]'],
  ...['[fd00:ec2::254]', '[fe80::1]', '[fe80::a9fe:a9fe]', '[fec0::1]', '[ff02::1]', '[fc00::1]', '[2001:db8::1]', '[100::1]', '[3fff::1]'],
  ...[
    '10.0.0.1',
    '10.255.255.255',
    '012.0.0.1',
    '172.16.0.1',
    '172.31.255.254',
    '192.168.0.1',
    '192.168.257',
    '100.64.0.1',
    '100.127.255.254',
  ],
  ...['192.0.0.1', '192.0.2.1', '192.88.99.1', '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.1.1.1'],
  ...['240.0.0.1', '255.255.255.255', '100.100.100.200', '192.0.0.192', '[::ffff:10.0.0.1]', '[::ffff:192.168.1.1]', '[64:ff9b::10.0.0.1]'],
]
const URLS = [
  ...HOSTS.map((host) => `https://${host}/hook`),
  ...HOSTS.slice(0, 20).map((host) => `https://${host}:8443/hook`),
  ...['https://user@example.org/', 'https://user:word@example.org/', 'https://127.0.0.1@example.org/', 'https://example.org#@127.0.0.1/'],
  ...[
    'http://example.org/',
    'ftp://example.org/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'javascript:alert(1)',
    'data:,x',
    '//example.org',
  ],
  ...['https://example.org:22/', 'https://example.org:6379/', 'https://example.org:5432/', 'https://example.org:80/', '/relative', ''],
]

describe('an address that leads astray', () => {
  let server: Server
  let port: number
  let hits = 0
  beforeAll(async () => {
    server = createServer((_, answer) => {
      hits += 1
      answer.end()
    })
    server.on('connection', () => (hits += 1))
    await once(server.listen(0, '::'), 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => void server.close())

  const access = createWebhookAccess([])
  const send = (url: URL, to = access) =>
    post({
      url,
      headers: {},
      body: '{}',
      agents: to.agentsFor(url),
      timeoutMs: 2_000,
      maxAnswerBytes: 10,
      signal: new AbortController().signal,
    })

  it.each(URLS)('is refused as it is written: %s', (url) => {
    const flaw = webhookUrlFlaw(url)?.detail ?? access.refusal(new URL(url))
    expect(flaw).toEqual(expect.any(String))
  })

  it('is refused by what connects too, whatever was looked at before', async () => {
    expect(URLS.length).toBeGreaterThan(100)
    for (const host of HOSTS) {
      for (const protocol of ['http', 'https']) {
        const written = `${protocol}://${host}:${port}/hook`
        if (!URL.canParse(written)) continue
        await expect(send(new URL(written)), written).rejects.toThrow()
      }
    }
    expect(hits).toBe(0)
  })

  it('is reached where the operator names it, by http and at any port, and its neighbours are not', async () => {
    const wider = createWebhookAccess(['127.0.0.1/32'])
    const near = new URL(`http://127.0.0.1:${port}/`)
    expect(wider.refusal(near)).toBeNull()
    expect((await send(near, wider)).status).toBe(200)
    expect(wider.refusal(new URL(`http://127.0.0.2:${port}/`))).toContain('BERTH_WEBHOOK_ALLOW_CIDRS')
    await expect(send(new URL(`http://127.0.0.2:${port}/`), wider)).rejects.toMatchObject({ code: 'BERTH_FORBIDDEN_ADDRESS' })
    // A name of the open internet by http, or at a port of something else, is none that was named.
    expect(wider.refusal(new URL('http://8.8.8.8/'))).toContain('BERTH_WEBHOOK_ALLOW_CIDRS')
    expect(wider.refusal(new URL('https://8.8.8.8:22/'))).toContain('BERTH_WEBHOOK_ALLOW_CIDRS')
  })

  it.each(['https://example.org/berth', 'https://example.org:8443/', 'https://8.8.8.8/', 'https://[2606:4700::1111]/'])(
    'is not %s',
    (url) => {
      expect(webhookUrlFlaw(url) ?? access.refusal(new URL(url))).toBeNull()
    },
  )
})
