import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Installation } from '../support/installation.ts'
import { startDockerWithPlugins, type DockerWithPlugins } from '../support/private-docker.ts'
import { startProxy, type Proxy } from '../support/proxy.ts'
import { startTestPlugin, type TestPlugin } from '../support/rclone-plugin.ts'
import { requireProgram, requireRclone, requireRoot, requireS3Server } from '../support/requirements.ts'
import { startTestS3, type TestS3 } from '../support/s3-server.ts'

const need = { dockerd: requireProgram('dockerd'), root: requireRoot(), rclone: requireRclone(), s3: requireS3Server() }
const isMissing = Object.values(need).some(({ missing }) => missing)

describe.skipIf(isMissing)('a bucket that is mounted by rclone', () => {
  let berth: Installation
  /** Its own: a daemon that has seen a plugin die asks it for 15 s each time that it looks for a volume. */
  let docker: DockerWithPlugins
  let server: TestS3
  let proxy: Proxy
  let plugin: TestPlugin
  beforeAll(async () => {
    docker = await startDockerWithPlugins()
    server = await startTestS3(need.s3.program)
    proxy = await startProxy({ host: '127.0.0.1', port: Number(new URL(server.endpoint).port) }, {})
    plugin = await startTestPlugin({
      program: need.rclone.program,
      docker,
      remote: { ...server, endpoint: `http://127.0.0.1:${proxy.port}` },
    })
    const { endpoint } = server
    const remotes = ['bucket', 'nowhere'].map((bucket) => ({ source: `s3://${bucket}/`, endpoint, remote: 'berth' }))
    const rclone = { driver: plugin.driver, control: plugin.control, remotes }
    berth = await Installation.create({ dockerHost: docker.host, docker: { rclone } })
    await berth.start()
    const { accessKeyId, secretAccessKey } = server
    const keys = { name: 'keys', value: { type: 's3_keys', accessKeyId, secretAccessKey } }
    await berth.client.request('POST', '/v1/secrets', { body: keys })
    for (const [name, bucket] of [
      ['lake', 'bucket'],
      ['typo', 'nowhere'],
      ['other', 'elsewhere'],
    ]) {
      const source = { kind: 's3', bucket, prefix: 'lake/', endpoint, region: 'us-east-1', pathStyle: true }
      await berth.client.request('POST', '/v1/drives', {
        body: { name, ...source, access: 'rw', credentials: { method: 'secret', secret: 'keys' } },
      })
    }
  }, 60_000)
  afterAll(async () => {
    try {
      // The daemon asks a plugin that has died for a while before it lets go of its volumes.
      await berth.untilClean(90)
    } finally {
      await berth.dispose()
      await plugin.stop()
      await proxy.close()
      await server.stop()
      await docker.stop()
    }
  }, 120_000)

  const run = (script: string, mount: object) =>
    berth.client.submit({
      scheduler: 'docker',
      retries: { max: 0, backoffSeconds: 1 },
      roles: [{ image: 'busybox', command: ['sh', '-c', script], mounts: [{ type: 'drive', drive: 'lake', path: '/lake', ...mount }] }],
    })
  const rw = (subPath: string) => ({ mode: 'mount', access: 'rw', subPath })
  const object = async (path: string): Promise<Buffer> =>
    Buffer.from(await (await berth.client.open(`/v1/drives/lake/objects/${path}`)).arrayBuffer())

  it('holds all that a job has written once the job has succeeded', async () => {
    const { id } = await run('head -c 20000000 /dev/zero > /lake/big; echo one > /lake/f; echo two >> /lake/f', rw('written'))
    const job = await berth.client.ended(id)
    const [big, small] = [await object('written/big'), await object('written/f')]
    expect(job, JSON.stringify(job)).toMatchObject({ state: 'succeeded' })
    expect([big.byteLength, small.toString()]).toEqual([20_000_000, 'one\ntwo\n'])
    expect(job.attempts[0]?.mounts.map(({ plan }) => plan)).toMatchObject([
      { via: 'rclone_volume', remote: 'berth', bucketPath: 'bucket/lake/written' },
    ])
  })

  it.each(['mount', 'cached'])('can be read and not written by a job that asked for that, in mode %s', async (mode) => {
    await berth.client.open('/v1/drives/lake/objects/read/f', { method: 'PUT', body: 'content' })
    const { id } = await run('cat /lake/f; touch /lake/x 2>&1; echo; echo ended', { mode, subPath: 'read' })
    const job = await berth.client.ended(id)
    expect(job, JSON.stringify(job)).toMatchObject({ state: 'succeeded' })
    expect((await berth.client.log(id)).toString()).toMatch(/^contenttouch: .*Read-only file system\n\nended\n$/)
  })

  it('that is away when the job ends keeps it finishing, until it has taken all', { timeout: 90_000 }, async () => {
    const { id } = await run('echo late > /lake/f; echo written; sleep 2', rw('late'))
    await berth.client.until(id, ({ state }) => state === 'running')
    await sleep(500)
    await proxy.shut()
    await berth.client.until(id, ({ state, reason }) => state === 'finishing' && reason === 'flushing', 40)
    await sleep(2_000)
    expect((await berth.client.get(id)).state).toBe('finishing')
    await proxy.open()
    expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded' })
    expect((await object('late/f')).toString()).toBe('late\n')
  })

  it('that is not there is told before the command has begun, and nothing made', async () => {
    const { id } = await run('echo began', { drive: 'typo', ...rw('x') })
    expect(await berth.client.ended(id)).toMatchObject({
      state: 'failed',
      reason: 'mount_failed',
      detail: expect.stringContaining('berth:nowhere/lake/x: there is no such bucket'),
    })
    expect((await berth.client.log(id)).toString()).toBe('')
  })

  it('is refused where the operator has named no remote for it', async () => {
    const mounts = [{ type: 'drive', drive: 'other', mode: 'mount' }]
    const { status, body } = await berth.client.request('POST', '/v1/jobs', {
      body: { scheduler: 'docker', roles: [{ image: 'busybox', command: ['true'], mounts }] },
    })
    expect([status, body]).toMatchObject([422, { errors: [{ code: 'remote_missing', pointer: '/roles/0/mounts/0' }] }])
  })

  it('is lost when the plugin has died with what was written, and the job tries again (case 35)', { timeout: 120_000 }, async () => {
    const { id } = await run('echo lost > /lake/f; sleep 2', rw('lost'))
    await berth.client.until(id, ({ state }) => state === 'running')
    await sleep(500)
    await plugin.kill()
    await plugin.start()
    const job = await berth.client.ended(id, 90)
    expect(job, JSON.stringify(job)).toMatchObject({
      state: 'succeeded',
      attempts: [{ state: 'failed', reason: 'mount_lost', detail: expect.stringContaining('endpoint_lost') }, { state: 'succeeded' }],
    })
    expect((await object('lost/f')).toString()).toBe('lost\n')
  })
})
