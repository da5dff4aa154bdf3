import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestAzure } from '../support/azure-server.ts'
import { startBucketStore } from '../support/bucket-store.ts'
import { Installation } from '../support/installation.ts'
import { PLACES, requirePlaces, type Place } from '../support/places.ts'
import { requireAzurite, requireS3Server } from '../support/requirements.ts'
import { startTestS3 } from '../support/s3-server.ts'

interface Bucket {
  /** The drive, but for its name. */
  readonly drive: object
  readonly secret: object
  /** Of the service. */
  readonly env?: Readonly<Record<string, string>>
  stop(): Promise<void>
}

const OWN = { access: 'rw', prefix: 'lake/', credentials: { method: 'secret', secret: 'keys' } }

const BUCKETS = [
  {
    kind: 's3',
    need: requireS3Server(),
    async start(program: string): Promise<Bucket> {
      const { endpoint, accessKeyId, secretAccessKey, stop } = await startTestS3(program)
      return { drive: { ...OWN, kind: 's3', bucket: 'bucket', endpoint }, secret: { type: 's3_keys', accessKeyId, secretAccessKey }, stop }
    },
  },
  {
    kind: 'azure_blob',
    need: requireAzurite(),
    async start(program: string): Promise<Bucket> {
      const { endpoint, account, accountKey, stop } = await startTestAzure(program)
      return {
        drive: { ...OWN, kind: 'azure_blob', account, container: 'bucket', endpoint },
        secret: { type: 'azure_key', accountKey },
        stop,
      }
    },
  },
  {
    kind: 'managed, in a bucket',
    need: requireS3Server(),
    async start(program: string): Promise<Bucket> {
      return { drive: { kind: 'managed' }, secret: { type: 'opaque', value: 'of no use' }, ...(await startBucketStore(program)) }
    },
  },
]
const places = requirePlaces()

describe.each(BUCKETS)('a drive', ({ kind, need, start }) => {
  describe.skipIf(need.missing || places.missing)(`of kind ${kind}`, () => {
    let berth: Installation
    let bucket: Bucket
    beforeAll(async () => {
      bucket = await start(need.program)
      berth = await Installation.create({ dockerHost: places.host, env: bucket.env ?? {} })
      await berth.start()
      await berth.client.request('POST', '/v1/secrets', { body: { name: 'keys', value: bucket.secret } })
      await berth.client.request('POST', '/v1/drives', { body: { name: 'lake', ...bucket.drive } })
    })
    afterAll(async () => {
      try {
        await berth.untilClean()
      } finally {
        await berth.dispose()
        await bucket.stop()
      }
    })

    const object = async (path: string): Promise<string> => (await berth.client.open(`/v1/drives/lake/objects/${path}`)).text()

    it.each(PLACES)('gives a job on %s its files, and takes what the job has made', async (place: Place) => {
      await berth.client.open(`/v1/drives/lake/objects/in/${place}.csv`, { method: 'PUT', body: '1,2\n' })
      const mount = { type: 'drive', drive: 'lake' }
      const { id } = await berth.client.submit({
        scheduler: place,
        roles: [
          {
            ...(place === 'docker' && { image: 'busybox' }),
            command: ['sh', '-c', `cat /in/${place}.csv > /out/model; echo "$(wc -l < /out/model)" > /out/lines`],
            mounts: [
              { ...mount, path: '/in', mode: 'copy_in', subPath: 'in' },
              { ...mount, path: '/out', mode: 'copy_out', access: 'rw', subPath: `out/${place}` },
            ],
          },
        ],
      })
      const job = await berth.client.ended(id)
      expect(job, JSON.stringify(job)).toMatchObject({ state: 'succeeded' })
      expect(await object(`out/${place}/model`)).toBe('1,2\n')
      expect(await object(`out/${place}/lines`)).toBe('1\n')
    })

    it('is tried by a worker, which says what it found', async () => {
      const { body } = await berth.client.request('POST', '/v1/drives/lake/check?wait=20')
      expect(body).toMatchObject({ checked: { ok: true, list: true, read: true, write: true, error: null } })
    })
  })
})
