import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DriveSnapshot } from '../../../src/domain/drives/drive.ts'
import { createStores } from '../../../src/stores/open-stores.ts'
import type { StoreCredentials } from '../../../src/stores/stores.ts'
import { startProxy, type Proxy } from '../../support/proxy.ts'
import { requireS3Server } from '../../support/requirements.ts'
import { startTestS3, type TestS3 } from '../../support/s3-server.ts'
import { objectStoreContract } from './object-store-contract.ts'
import { everyKey, get, NEVER, put } from './store-under-test.ts'

const need = requireS3Server()

const drive = (source: object): DriveSnapshot =>
  ({
    id: 'drv_1',
    name: 'd',
    version: 1,
    access: 'rw',
    credentials: null,
    source: { kind: 's3', bucket: 'bucket', prefix: '', endpoint: null, region: 'us-east-1', pathStyle: true, ...source },
  }) as DriveSnapshot
const stores = createStores({ managed: { kind: 'directory', directory: '/nowhere' }, allowPrivate: true })
const keysOf = ({ accessKeyId, secretAccessKey }: TestS3): StoreCredentials => ({ accessKeyId, secretAccessKey })

describe.skipIf(need.missing)('on a real server', () => {
  objectStoreContract('a prefix of a bucket', async () => {
    const server = await startTestS3(need.program)
    const open = () => stores.open(drive({ endpoint: server.endpoint, prefix: 'a/b/' }), keysOf(server))!
    return { store: open(), again: open, stop: () => server.stop() }
  })

  objectStoreContract('a managed drive in a bucket', async () => {
    const server = await startTestS3(need.program)
    const place = { endpoint: server.endpoint, region: 'us-east-1', pathStyle: true, bucket: 'bucket', prefix: 'berth/' }
    const own = createStores({ managed: { kind: 's3', ...place, credentials: keysOf(server) }, allowPrivate: true })
    const open = () => own.open(drive({ kind: 'managed' }), null)!
    return { store: open(), again: open, stop: () => server.stop() }
  })
})

describe.skipIf(need.missing)('a bucket', () => {
  let server: TestS3
  beforeAll(async () => {
    server = await startTestS3(need.program)
  })
  afterAll(() => server.stop())

  const open = (source: object = {}, credentials: StoreCredentials | null = keysOf(server)) =>
    stores.open(drive({ endpoint: server.endpoint, ...source }), credentials)!

  it('shows a drive nothing outside of its prefix', async () => {
    await put(open(), 'other/secret', 'x')
    await put(open(), 'own/mine', 'x')
    expect(await everyKey(open({ prefix: 'own/' }))).toEqual(['mine'])
    expect(await open({ prefix: 'own/' }).head('../other/secret', NEVER)).toBeNull()
  })

  it('hides what is not committed yet, as a name and as a level', async () => {
    await open()
      .batch('hidden')
      .write('of-a-batch', Readable.from([Buffer.from('x')]), { signal: NEVER })
    const level = await open().list({ prefix: '', delimiter: '/', after: null, limit: 100, signal: NEVER })
    expect(
      [...(await everyKey(open())), ...level.prefixes].filter((key) => key.includes('of-a-batch') || key.startsWith('.berth')),
    ).toEqual([])
  })

  it('gives URLs that need no key, for one object and one method', async () => {
    await put(open(), 'signed', 'content')
    const url = await open().presign('signed', { method: 'GET', expiresInSeconds: 60 })
    expect(await (await fetch(url ?? '')).text()).toBe('content')
    expect((await fetch(url ?? '', { method: 'DELETE' })).status).toBe(403)
  })

  it.each([
    ['without keys', {}, null, 'access_denied'],
    ['with a wrong secret', {}, { accessKeyId: 'test-access', secretAccessKey: 'wrong' }, 'access_denied'],
    ['that is not there', { bucket: 'nowhere' }, undefined, 'misconfigured'],
    ['on a server that is not there', { endpoint: 'http://127.0.0.1:9' }, undefined, 'unavailable'],
  ] as const)('%s is told as that', { timeout: 30_000 }, async (_, source, credentials, kind) => {
    const store = open(source, credentials === undefined ? keysOf(server) : credentials)
    await expect(store.list({ prefix: '', delimiter: null, after: null, limit: 1, signal: NEVER })).rejects.toMatchObject({ kind })
  })

  it('that is cut off in the middle of a body tells it, and never gives less as all', async () => {
    await put(open(), 'cut', Buffer.alloc(8 * 1024 * 1024, 'x'))
    const proxy: Proxy = await startProxy({ host: '127.0.0.1', port: Number(new URL(server.endpoint).port) }, {})
    try {
      const store = open({ endpoint: `http://127.0.0.1:${proxy.port}` })
      const body = await store.read('cut', { signal: NEVER })
      let bytes = 0
      const reading = (async () => {
        for await (const chunk of body) {
          bytes += (chunk as Buffer).byteLength
          await proxy.shut()
        }
      })()
      await expect(reading).rejects.toMatchObject({ kind: 'unavailable' })
      expect(bytes).toBeLessThan(8 * 1024 * 1024)
      expect((await get(open(), 'cut')).byteLength).toBe(8 * 1024 * 1024)
    } finally {
      await proxy.close()
    }
  })
})
