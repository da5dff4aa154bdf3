import { createServer } from 'node:http'
import { once } from 'node:events'
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANY_ADDRESS, openInternetAnd, type AddressPolicy } from '../../../src/outbound/address-policy.ts'
import { createGuardedAgents } from '../../../src/outbound/guarded-agents.ts'

describe('the open internet', () => {
  const policy = openInternetAnd([])

  it.each(['1.1.1.1', '8.8.8.8', '100.63.255.255', '172.32.0.1', '2606:4700::1111', '2a00:1450::1', '::ffff:8.8.8.8'])(
    'has %s',
    (address) => expect(policy.allows(address)).toBe(true),
  )

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a9fe:a9fe',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::7f00:1',
    '100::1',
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:a9fe:a9fe::1',
    '3fff::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
    '127.1',
    '2130706433',
    '0x7f.0.0.1',
  ])('has no %s', (address) => expect(policy.allows(address)).toBe(false))

  it('is joined by what the operator names, and by nothing beside it', () => {
    const wider = openInternetAnd(['10.1.0.0/16', '127.0.0.1/32', 'fd00::/8'])
    expect(['10.1.2.3', '127.0.0.1', '::ffff:10.1.2.3', 'fd00::1', '8.8.8.8'].map(wider.allows)).toEqual([true, true, true, true, true])
    expect(['10.2.0.1', '127.0.0.2', 'fc00::1', '::1'].map(wider.allows)).toEqual([false, false, false, false])
  })
})

describe('agents that are guarded', () => {
  const server = createServer((_, answer) => answer.end('reached'))
  let port: number
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => void server.close())

  const ask = (host: string, policy: AddressPolicy): Promise<string> =>
    new Promise((resolve, reject) => {
      const { http } = createGuardedAgents(policy, {})
      const sent = request(`http://${host}:${port}/`, { agent: http }, (answer) => {
        answer.setEncoding('utf8').once('data', resolve)
      })
      sent.once('error', reject)
      sent.end()
    })

  it.each(['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1'])('do not connect to %s', async (host) => {
    await expect(ask(host, openInternetAnd([]))).rejects.toMatchObject({ code: 'BERTH_FORBIDDEN_ADDRESS' })
  })

  it('connect to it where the operator allows it', async () => {
    expect(await ask('127.0.0.1', openInternetAnd(['127.0.0.0/8']))).toBe('reached')
    expect(await ask('127.0.0.1', ANY_ADDRESS)).toBe('reached')
  })
})
