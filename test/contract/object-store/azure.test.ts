import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ContainerClient, ContainerSASPermissions, StorageSharedKeyCredential } from '@azure/storage-blob'
import type { DriveSnapshot } from '../../../src/domain/drives/drive.ts'
import { createStores } from '../../../src/stores/open-stores.ts'
import { ANY_ADDRESS } from '../../../src/outbound/address-policy.ts'
import type { ObjectStore } from '../../../src/stores/object-store.ts'
import type { StoreCredentials } from '../../../src/stores/stores.ts'
import { startTestAzure, type TestAzure } from '../../support/azure-server.ts'
import { startHttpProxy } from '../../support/http-proxy.ts'
import { requireAzurite } from '../../support/requirements.ts'
import { objectStoreContract } from './object-store-contract.ts'
import { everyKey, get, NEVER, put } from './store-under-test.ts'

const need = requireAzurite()

const stores = createStores({ managed: { kind: 'directory', directory: '/nowhere' }, addresses: ANY_ADDRESS })
const keyOf = ({ accountKey }: TestAzure): StoreCredentials => ({ type: 'azure_key', accountKey })

function opener(server: TestAzure) {
  return (source: object = {}, credentials: StoreCredentials | 'ambient' | null = keyOf(server)): ObjectStore => {
    const { endpoint, account } = server
    const drive = {
      id: 'drv_1',
      name: 'd',
      version: 1,
      access: 'rw',
      credentials: null,
      source: { kind: 'azure_blob', account, container: 'bucket', prefix: '', endpoint, ...source },
    } as DriveSnapshot
    return stores.open(drive, credentials)!
  }
}

describe.skipIf(need.missing)('on Azurite', () => {
  objectStoreContract('a prefix of a container', async () => {
    const server = await startTestAzure(need.program)
    const open = () => opener(server)({ prefix: 'a/b/' })
    return { store: open(), again: open, stop: () => server.stop() }
  })
})

describe.skipIf(need.missing)('a container', () => {
  let server: TestAzure
  let open: ReturnType<typeof opener>
  beforeAll(async () => {
    server = await startTestAzure(need.program)
    open = opener(server)
  })
  afterAll(() => server.stop())

  it('shows a drive nothing outside of its prefix, and nothing that is not committed', async () => {
    await put(open(), 'other/secret', 'x')
    await put(open(), 'own/mine', 'x')
    await open({ prefix: 'own/' })
      .batch('hidden')
      .write('of-a-batch', await open().read('own/mine', { signal: NEVER }), { signal: NEVER })
    expect(await everyKey(open({ prefix: 'own/' }))).toEqual(['mine'])
    expect(await open({ prefix: 'own/' }).head('../other/secret', NEVER)).toBeNull()
    const level = await open({ prefix: 'own/' }).list({ prefix: '', delimiter: '/', after: null, limit: 100, signal: NEVER })
    expect(level.prefixes).toEqual([])
  })

  it('opens by a signature of limited rights', async () => {
    const { endpoint, account, accountKey } = server
    const client = new ContainerClient(`${endpoint}/bucket`, new StorageSharedKeyCredential(account, accountKey))
    const url = await client.generateSasUrl({ permissions: ContainerSASPermissions.parse('rl'), expiresOn: new Date(Date.now() + 60_000) })
    await put(open(), 'sas', 'content')
    const store = open({}, { type: 'azure_sas', token: new URL(url).search })
    expect((await get(store, 'sas')).toString()).toBe('content')
    await expect(put(store, 'sas', 'other')).rejects.toMatchObject({ kind: 'access_denied' })
  })

  it('gives URLs that need no key, for reading one object', async () => {
    await put(open(), 'signed', 'content')
    const url = (await open().presign('signed', { method: 'GET', expiresInSeconds: 60 })) ?? ''
    expect(await (await fetch(url)).text()).toBe('content')
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(403)
    expect(await open().presign('signed', { method: 'PUT', expiresInSeconds: 60 })).toBeNull()
  })

  it.each([
    ['that is not public', {}, null, 'access_denied'],
    ['with a wrong key', {}, { type: 'azure_key', accountKey: 'd3Jvbmc=' }, 'access_denied'],
    ['that is not there', { container: 'nowhere' }, undefined, 'misconfigured'],
    ['on a server that is not there', { endpoint: 'http://127.0.0.1:9/testaccount' }, undefined, 'unavailable'],
  ] as const)('%s is told as that', { timeout: 60_000 }, async (_, source, credentials, kind) => {
    const store = open(source, credentials === undefined ? keyOf(server) : credentials)
    await expect(store.list({ prefix: '', delimiter: null, after: null, limit: 1, signal: NEVER })).rejects.toMatchObject({ kind })
  })

  it.each([
    ['keys of S3', { type: 's3_keys', accessKeyId: 'a', secretAccessKey: 'b' }],
    ["the worker's own", 'ambient'],
  ] as const)('is not opened with %s', (_, credentials) => {
    expect(() => open({}, credentials)).toThrow(expect.objectContaining({ kind: 'access_denied' }))
  })

  it('that loses the answer to a put of what must be new does not take its own for another', async () => {
    const proxy = await startHttpProxy(server.endpoint, (n, { method, url }) =>
      method === 'PUT' && (url ?? '').includes('blocklist') && n <= 2 ? { loseAnswer: true } : null,
    )
    try {
      await put(open({ endpoint: `${proxy.url}/testaccount` }), 'only-once', 'mine', { condition: { kind: 'never' } })
    } finally {
      await proxy.stop()
    }
    expect((await get(open(), 'only-once')).toString()).toBe('mine')
    await expect(put(open(), 'only-once', 'yours', { condition: { kind: 'never' } })).rejects.toMatchObject({ kind: 'precondition_failed' })
  })

  it('that cuts bodies short never gives less as all', { timeout: 60_000 }, async () => {
    await put(open(), 'long', Buffer.alloc(2 * 1024 * 1024, 'x'))
    const proxy = await startHttpProxy(server.endpoint, () => ({ cutAfter: 100_000 }))
    try {
      await expect(get(open({ endpoint: `${proxy.url}/testaccount` }), 'long')).rejects.toMatchObject({ kind: 'unavailable' })
    } finally {
      await proxy.stop()
    }
  })
})
