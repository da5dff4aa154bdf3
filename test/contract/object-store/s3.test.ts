import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DriveSnapshot } from '../../../src/domain/drives/drive.ts'
import { createS3Client } from '../../../src/stores/s3/s3-client.ts'
import { copyObject } from '../../../src/stores/s3/s3-copy.ts'
import { createStores } from '../../../src/stores/open-stores.ts'
import { ANY_ADDRESS } from '../../../src/outbound/address-policy.ts'
import type { StoreCredentials } from '../../../src/stores/stores.ts'
import type { ObjectStore } from '../../../src/stores/object-store.ts'
import { startHttpProxy, type HttpProxy } from '../../support/http-proxy.ts'
import { startProxy, type Proxy } from '../../support/proxy.ts'
import { requireMinio, requireS3Server } from '../../support/requirements.ts'
import { startTestMinio, startTestS3, type TestS3 } from '../../support/s3-server.ts'
import { objectStoreContract } from './object-store-contract.ts'
import { everyKey, get, NEVER, put, sha256 } from './store-under-test.ts'

const need = requireS3Server()
const minio = requireMinio()
const SERVERS = [
  { name: 'versitygw', need, start: startTestS3 },
  { name: 'MinIO', need: minio, start: startTestMinio },
]

const drive = (source: object): DriveSnapshot =>
  ({
    id: 'drv_1',
    name: 'd',
    version: 1,
    access: 'rw',
    credentials: null,
    source: { kind: 's3', bucket: 'bucket', prefix: '', endpoint: null, region: 'us-east-1', pathStyle: true, ...source },
  }) as DriveSnapshot
const stores = createStores({ managed: { kind: 'directory', directory: '/nowhere' }, addresses: ANY_ADDRESS })
const keysOf = ({ accessKeyId, secretAccessKey }: TestS3) => ({ type: 's3_keys', accessKeyId, secretAccessKey }) as const

describe.each(SERVERS)('on $name', ({ need, start }) => {
  describe.skipIf(need.missing)('a store', () => {
    objectStoreContract('a prefix of a bucket', async () => {
      const server = await start(need.program)
      const open = () => stores.open(drive({ endpoint: server.endpoint, prefix: 'a/b/' }), keysOf(server))!
      return { store: open(), again: open, stop: () => server.stop() }
    })

    objectStoreContract('a managed drive in a bucket', async () => {
      const server = await start(need.program)
      const place = { endpoint: server.endpoint, region: 'us-east-1', pathStyle: true, bucket: 'bucket', prefix: 'berth/' }
      const own = createStores({ managed: { kind: 's3', ...place, credentials: keysOf(server) }, addresses: ANY_ADDRESS })
      const open = () => own.open(drive({ kind: 'managed' }), null)!
      return { store: open(), again: open, stop: () => server.stop() }
    })
  })
})

// versitygw refuses the region `auto`, which Google wants.
describe.skipIf(minio.missing)('by the S3 interface', () => {
  objectStoreContract('a drive of kind gcs', async () => {
    const server = await startTestMinio(minio.program)
    const open = () => stores.open(drive({ kind: 'gcs', endpoint: server.endpoint, prefix: 'g/' }), keysOf(server))!
    return { store: open(), again: open, stop: () => server.stop() }
  })
})

describe.each(SERVERS)('on $name', ({ need, start }) => {
  describe.skipIf(need.missing)('a bucket', () => {
    let server: TestS3
    beforeAll(async () => {
      server = await start(need.program)
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
      const into = await open().presign('signed-put', { method: 'PUT', expiresInSeconds: 60 })
      expect((await fetch(into ?? '', { method: 'PUT', body: 'from outside' })).status).toBe(200)
      expect((await get(open(), 'signed-put')).toString()).toBe('from outside')
    })

    it.each([
      ['without keys', {}, null, 'access_denied'],
      ['with a wrong secret', {}, { type: 's3_keys', accessKeyId: 'test-access', secretAccessKey: 'wrong' }, 'access_denied'],
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

    it('copies what is too large for one request part by part, with its type and digest', async () => {
      const bytes = randomBytes(12 * 1024 * 1024 + 5)
      await put(open(), 'from/large', bytes, { contentType: 'application/x-large', sha256: sha256(bytes) })
      const client = createS3Client({ endpoint: server.endpoint, region: 'us-east-1', pathStyle: true }, keysOf(server))
      const place = (prefix: string) => ({ client, bucket: 'bucket', prefix })
      const sizes = { wholeBytes: 1024 * 1024, partBytes: 5 * 1024 * 1024 }
      await copyObject({ from: place('from/'), to: place('to/') }, { key: 'large', size: bytes.byteLength }, NEVER, sizes)
      expect((await get(open(), 'to/large')).equals(bytes)).toBe(true)
      expect(await open().head('to/large', NEVER)).toMatchObject({ contentType: 'application/x-large', sha256: sha256(bytes) })
    })

    describe('behind a bad network', () => {
      const SLOW_DOWN = '<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>'
      const through = async <T>(
        faultOf: Parameters<typeof startHttpProxy>[1],
        act: (store: ObjectStore, proxy: HttpProxy) => Promise<T>,
      ) => {
        const proxy = await startHttpProxy(server.endpoint, faultOf)
        try {
          return await act(open({ endpoint: proxy.url }), proxy)
        } finally {
          await proxy.stop()
        }
      }

      it('that answers 503 now and then gives and takes all the same', async () => {
        const seen = await through(
          (n) => (n % 3 === 0 ? null : { status: 503, body: SLOW_DOWN }),
          async (store, proxy) => {
            await put(store, 'again', 'content')
            expect((await get(store, 'again')).toString()).toBe('content')
            return proxy.seen()
          },
        )
        expect(seen).toBe(6)
      })

      it('that answers 503 for ever is unavailable, in its own words', async () => {
        await through(
          () => ({ status: 503, body: SLOW_DOWN }),
          (store) =>
            expect(get(store, 'again')).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('SlowDown') }),
        )
      })

      it('that is slow is waited for', { timeout: 30_000 }, async () => {
        await through(
          () => ({ delayMs: 2_000 }),
          async (store) => expect((await get(store, 'again')).toString()).toBe('content'),
        )
      })

      it('that cuts bodies short never gives less as all', async () => {
        await put(open(), 'long', Buffer.alloc(2 * 1024 * 1024, 'x'))
        await through(
          () => ({ cutAfter: 100_000 }),
          (store) => expect(get(store, 'long')).rejects.toMatchObject({ kind: 'unavailable' }),
        )
      })

      it('that loses the answer to a put of what must be new does not take its own for another', async () => {
        await through(
          (n, { method }) => (method === 'PUT' && n === 1 ? { loseAnswer: true } : null),
          (store) => put(store, 'only-once', 'mine', { condition: { kind: 'never' } }),
        )
        expect((await get(open(), 'only-once')).toString()).toBe('mine')
        await expect(put(open(), 'only-once', 'yours', { condition: { kind: 'never' } })).rejects.toMatchObject({
          kind: 'precondition_failed',
        })
      })

      it.each([
        [301, 'PermanentRedirect', 'misconfigured'],
        [400, 'AuthorizationHeaderMalformed', 'misconfigured'],
        [400, 'IllegalLocationConstraintException', 'misconfigured'],
        [400, 'ExpiredToken', 'access_denied'],
        [403, 'RequestTimeTooSkewed', 'access_denied'],
        [500, 'InternalError', 'unavailable'],
      ] as const)('whose server says %d %s is told as that', async (status, code, kind) => {
        const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>in its own words</Message></Error>`
        await through(
          () => ({ status, body }),
          (store) => expect(get(store, 'again')).rejects.toMatchObject({ kind, message: expect.stringContaining('in its own words') }),
        )
      })
    })
  })
})
