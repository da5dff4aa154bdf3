import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Installation } from '../support/installation.ts'
import { PLACES, requirePlaces, type Place } from '../support/places.ts'

const need = requirePlaces()
const DOCUMENT = new URL('../../docs/drives.md', import.meta.url)

describe.skipIf(need.missing)('drives', () => {
  let berth: Installation
  let address: string
  beforeAll(async () => {
    berth = await Installation.create({ dockerHost: need.host })
    address = (await berth.start()).address
    for (const name of ['put', 'made']) await berth.client.request('POST', '/v1/drives', { body: { name, kind: 'managed' } })
  })
  afterAll(async () => {
    try {
      await berth.untilClean()
    } finally {
      await berth.dispose()
    }
  })

  const run = (place: Place, script: string, mounts: object[], more: object = {}) =>
    berth.client.submit({
      scheduler: place,
      roles: [{ ...(place === 'docker' && { image: 'busybox' }), command: ['sh', '-c', script], mounts, ...more }],
    })
  const object = async (path: string): Promise<string> => (await berth.client.open(`/v1/drives/${path}`)).text()

  it('are used as docs/drives.md says', async () => {
    const [example] = /```sh\n(.*?)```/s.exec(await readFile(DOCUMENT, 'utf8'))?.slice(1) ?? []
    const script = example?.replace('$(cat .berth/api-key)', berth.apiKey).replaceAll('localhost:8080', address.replace('http://', ''))
    await writeFile(join(berth.dataDir, 'train.csv'), 'a\nb\nc\n')
    const { stdout } = await promisify(execFile)('bash', ['-euc', `${script}`], { cwd: berth.dataDir })
    expect(stdout.trimEnd().endsWith('3')).toBe(true)
  })

  it.each(PLACES)('carry what a notebook puts to a job on %s, by path and read-only, and its model back', async (place) => {
    await berth.client.open(`/v1/drives/put/objects/${place}/data.csv`, { method: 'PUT', body: '1,2\n' })
    const mounts = [
      { type: 'drive', drive: 'put', path: '/data' },
      { type: 'drive', drive: 'put', path: '/copy', mode: 'copy_in', subPath: place },
      { type: 'drive', drive: 'made', path: '/out', mode: 'copy_out', subPath: `${place}/\${job_id}` },
    ]
    const refused = 'touch /data/x 2>/dev/null && exit 3; touch /copy/x 2>/dev/null && exit 4'
    const script = `${refused}; cat /data/${place}/data.csv /copy/data.csv > /out/model`
    const { id } = await run(place, script, mounts)
    const job = await berth.client.ended(id)
    expect(job, JSON.stringify(job)).toMatchObject({ state: 'succeeded' })
    expect(job.attempts[0]?.mounts.map(({ plan }) => plan.via)).toEqual(['drive_directory', 'staged', 'staged'])
    expect(await object(`made/objects/${place}/${id}/model`)).toBe('1,2\n1,2\n')
    const reasons = (await berth.client.events(id)).map(({ reason }) => reason)
    expect(reasons).toEqual(expect.arrayContaining(['staging', 'flushing', 'committing']))
  })

  it.each(PLACES)('keep nothing of an attempt that failed on %s, but what was asked for', async (place) => {
    const out = (path: string, when: string) => ({
      type: 'drive',
      drive: 'made',
      path: `/${path}`,
      mode: 'copy_out',
      subPath: `\${job_id}/${path}`,
      outputs: { when },
    })
    const { id } = await run(place, 'echo x > /no/f; echo x > /yes/f; exit 3', [out('no', 'success'), out('yes', 'failure')])
    expect(await berth.client.ended(id)).toMatchObject({ state: 'failed', reason: 'executor_error' })
    const { body } = await berth.client.request('GET', `/v1/drives/made/objects?prefix=${id}/`)
    expect((body as { items: { path: string }[] }).items.map(({ path }) => path)).toEqual([`${id}/yes/f`])
  })

  it('fail a job whose outputs are in the way of others, and keep its files', async () => {
    await berth.client.open('/v1/drives/made/objects/taken/f', { method: 'PUT', body: 'first' })
    const { id } = await run('local', 'echo second > /out/f', [
      { type: 'drive', drive: 'made', path: '/out', mode: 'copy_out', subPath: 'taken', onConflict: 'fail' },
    ])
    const job = await berth.client.ended(id)
    expect(job).toMatchObject({ state: 'failed', reason: 'mount_failed', detail: expect.stringMatching(/taken\/f.*batch att_/) })
    expect(await object('made/objects/taken/f')).toBe('first')
  })

  it('take out only what is asked for, and again and again while the job runs', async () => {
    const outputs = { include: ['**/*.pt'], exclude: ['tmp/**'], intervalSeconds: 5 }
    const mount = { type: 'drive', drive: 'made', path: '/out', mode: 'copy_out', subPath: '${job_id}', outputs }
    const { id } = await run(
      'local',
      'mkdir -p /out/a /out/tmp; echo 1 > /out/a/m.pt; echo 1 > /out/log; echo 1 > /out/tmp/t.pt; sleep 14; echo 2 > /out/a/m.pt',
      [mount],
    )
    const early = await berth.client.open(`/v1/drives/made/objects/${id}/a/m.pt?wait=20`)
    expect(await early.text()).toBe('1\n')
    expect(await berth.client.ended(id)).toMatchObject({ state: 'succeeded' })
    expect(await object(`made/objects/${id}/a/m.pt`)).toBe('2\n')
    const { body } = await berth.client.request('GET', `/v1/drives/made/objects?prefix=${id}/`)
    expect((body as { items: { path: string }[] }).items.map(({ path }) => path)).toEqual([`${id}/a/m.pt`])
  })

  it('that are not reachable fail a job with a reason that names them', async () => {
    const source = { kind: 's3', bucket: 'abc', endpoint: 'http://127.0.0.1:9', credentials: { method: 'secret', secret: 'none' } }
    const { id } = await run('local', 'true', [{ type: 'source', source, path: '/in', mode: 'copy_in' }])
    expect(await berth.client.ended(id)).toMatchObject({
      state: 'failed',
      reason: 'mount_failed',
      detail: expect.stringContaining('access_denied'),
    })
  })

  it('are tried by a worker, and remember what it found', async () => {
    await berth.client.open('/v1/drives/put/objects/try', { method: 'PUT', body: '12345' })
    const { body } = await berth.client.request('POST', '/v1/drives/put/check?wait=20')
    expect(body).toMatchObject({ checked: { ok: true, list: true, read: true, write: true, complete: true, error: null } })
  })
})
