import { createHash, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { object as objectSchema, objectList } from '../../../src/routes/schemas/object.ts'
import { requirePostgres } from '../../support/requirements.ts'
import { API_KEY, createTestApi, problemOf, shaped, type TestApi } from './test-api.ts'

const authorization = `Bearer ${API_KEY}`
const digest = (bytes: Buffer | string): string => `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`

describe.skipIf(requirePostgres().missing)('objects of a drive', () => {
  let api: TestApi
  let address: string
  beforeAll(async () => {
    api = await createTestApi()
    address = await api.app.listen({ host: '127.0.0.1', port: 0 })
    for (const drive of [
      { name: 'd', kind: 'managed' },
      { name: 'made', kind: 'managed', ownership: 'component' },
      { name: 'small', kind: 'managed', maxBytes: 10, maxObjects: 2 },
      { name: 'once', kind: 'managed', access: 'create' },
      { name: 'fixed', kind: 'managed', access: 'ro' },
      { name: 'files', kind: 'nfs', server: 'a', export: '/x' },
    ]) {
      await api.call('POST', '/v1/drives', { body: drive })
    }
  })
  afterAll(() => api.stop())

  const call = (
    method: 'GET' | 'HEAD' | 'PUT' | 'DELETE',
    path: string,
    more: { payload?: Buffer | string; headers?: Record<string, string> } = {},
  ) =>
    api.app.inject({
      method,
      url: `/v1/drives/${path}`,
      ...(more.payload !== undefined && { payload: more.payload }),
      headers: { authorization, ...more.headers },
    })
  const put = (path: string, payload: Buffer | string, headers: Record<string, string> = {}) =>
    call('PUT', `d/objects/${path}`, { payload, headers })

  it('case 24: come back as they were put, with type, tag and digest', async () => {
    const bytes = randomBytes(50_000)
    const made = await put('a/b%20c.bin', bytes, { 'content-type': 'application/x-thing' })
    expect([made.statusCode, made.headers['location']]).toEqual([201, '/v1/drives/d/objects/a/b%20c.bin'])
    const view = shaped(made, objectSchema)
    const got = await call('GET', 'd/objects/a/b%20c.bin')
    expect(got.rawPayload).toEqual(bytes)
    expect(got.headers).toMatchObject({
      etag: view.etag,
      'content-type': 'application/x-thing',
      'repr-digest': digest(bytes),
      'accept-ranges': 'bytes',
    })
    const head = await call('HEAD', 'd/objects/a/b%20c.bin')
    expect([head.statusCode, head.headers['content-length'], head.body]).toEqual([200, '50000', ''])
    expect(shaped(await call('GET', 'd/objects?prefix=a/'), objectList).items.map(({ path }) => path)).toEqual(['a/b c.bin'])
  })

  it('are given in ranges, and a range that is not there says what is', async () => {
    await put('range', '0123456789')
    const range = (value: string) => call('GET', 'd/objects/range', { headers: { range: value } })
    expect([(await range('bytes=2-4')).body, (await range('bytes=-3')).body, (await range('bytes=7-')).body]).toEqual(['234', '789', '789'])
    expect((await range('bytes=2-4')).headers).toMatchObject({ 'content-range': 'bytes 2-4/10', 'content-length': '3' })
    expect((await range('bytes=0-1,4-5')).statusCode).toBe(200)
    const beyond = await range('bytes=10-')
    expect([problemOf(beyond).status, beyond.headers['content-range']]).toEqual([416, 'bytes */10'])
  })

  it('case 31: are new, or as they were, only if asked', async () => {
    const first = (await put('if', 'one', { 'if-none-match': '*' })).headers['etag'] as string
    expect(problemOf(await put('if', 'two', { 'if-none-match': '*' })).status).toBe(412)
    expect((await put('if', 'two', { 'if-match': first })).statusCode).toBe(200)
    expect(problemOf(await put('if', 'three', { 'if-match': first })).status).toBe(412)
    const now = await call('GET', 'd/objects/if')
    expect((await call('GET', 'd/objects/if', { headers: { 'if-none-match': now.headers['etag'] as string } })).statusCode).toBe(304)
  })

  it('are stored only if they are what their digest says', async () => {
    expect(problemOf(await put('digest', 'text', { 'content-digest': digest('other') })).code).toBe('digest_mismatch')
    expect((await call('GET', 'd/objects/digest')).statusCode).toBe(404)
    expect((await put('digest', 'text', { 'repr-digest': digest('text') })).statusCode).toBe(201)
    expect(problemOf(await put('digest', 'text', { 'content-digest': 'sha-256=:AAAA:' })).code).toBe('malformed_request')
  })

  it('are not there after an upload that was interrupted', async () => {
    const upload = request(`${address}/v1/drives/d/objects/interrupted`, {
      method: 'PUT',
      headers: { authorization, 'content-length': '1000000' },
    })
    upload.on('error', () => undefined)
    upload.write(randomBytes(1000))
    await sleep(200)
    upload.destroy()
    await sleep(200)
    expect((await call('GET', 'd/objects/interrupted')).statusCode).toBe(404)
    expect((await put('interrupted', 'whole')).statusCode).toBe(201)
  })

  it('are sent only after they were asked for, with Expect: 100-continue', async () => {
    const upload = request(`${address}/v1/drives/d/objects/expected`, {
      method: 'PUT',
      headers: { authorization, expect: '100-continue', 'content-length': '5' },
    })
    upload.flushHeaders()
    await new Promise((resolve) => upload.once('continue', resolve))
    upload.end('hello')
    const status = await new Promise((resolve) => upload.once('response', (answer) => resolve(answer.resume().statusCode)))
    expect(status).toBe(201)
  })

  it('can be waited for', async () => {
    const begin = performance.now()
    const waiting = call('GET', 'd/objects/later?wait=10')
    await sleep(150)
    await put('later', 'here')
    expect((await waiting).body).toBe('here')
    expect(performance.now() - begin).toBeLessThan(5_000)
    expect(problemOf(await call('GET', 'd/objects/never?wait=1')).detail).toContain('after 1 s')
  })

  it.each([
    '..%2fx',
    '%2e%2e/x',
    'a/../x',
    '%2fetc%2fpasswd',
    'a%5cb',
    'a//b',
    'a/./b',
    'x%00y',
    '.berth/batches/x',
    `${'x'.repeat(256)}`,
    'a/',
  ])('case 34: are refused at %s', async (path) => {
    // By hand: clients make a path plain before they send it.
    const status = await new Promise((resolve, reject) => {
      const options = { method: 'PUT', path: `/v1/drives/d/objects/${path}`, headers: { authorization, 'content-length': '1' } }
      const upload = request(address, options, (answer) => resolve(answer.resume().statusCode))
      upload.once('error', reject)
      upload.end('x')
    })
    expect([400, 404]).toContain(status)
  })

  it('are listed level by level, page by page', async () => {
    for (const path of ['l/b/1', 'l/b/2', 'l/a', 'l/c']) await put(path, path)
    expect(shaped(await call('GET', 'd/objects?prefix=l/&delimiter=/'), objectList)).toMatchObject({
      items: [{ path: 'l/a' }, { path: 'l/c' }],
      prefixes: ['l/b/'],
    })
    const first = shaped(await call('GET', 'd/objects?prefix=l/&limit=3'), objectList)
    const second = shaped(await call('GET', `d/objects?prefix=l/&limit=3&cursor=${first.nextCursor}`), objectList)
    expect([...first.items, ...second.items].map(({ path }) => path)).toEqual(['l/a', 'l/b/1', 'l/b/2', 'l/c'])
    expect(shaped(await call('GET', 'd/objects?prefix=nothing/'), objectList)).toEqual({ items: [], prefixes: [], nextCursor: null })
  })

  it('cases 49, 51, 52: are deleted, one or all below a path', async () => {
    for (const path of ['x/1', 'x/2', 'y']) await put(path, path)
    expect((await call('DELETE', 'd/objects/y')).statusCode).toBe(204)
    expect((await call('DELETE', 'd/objects/y')).statusCode).toBe(404)
    expect((await call('DELETE', 'd/objects/y?missing=ok')).statusCode).toBe(204)
    expect(problemOf(await call('DELETE', 'd/objects/x')).code).toBe('prefix_not_empty')
    expect((await call('DELETE', 'd/objects/x?recursive=true')).statusCode).toBe(204)
    expect(shaped(await call('GET', 'd/objects?prefix=x/'), objectList).items).toEqual([])
  })

  it('cases 23, 28, 39, 46: of several producers never overwrite each other', async () => {
    const of = (component: string, payload: string) => call('PUT', `made/objects/ckpt/a?component=${component}`, { payload })
    expect(problemOf(await call('PUT', 'made/objects/ckpt/a', { payload: 'x' })).code).toBe('producer_required')
    await of('one', 'from one')
    expect((await call('GET', 'made/objects/ckpt/a')).body).toBe('from one')
    await of('two', 'from two')
    const problem = problemOf(await call('GET', 'made/objects/ckpt/a'))
    expect([problem.status, problem.code, problem.errors.map(({ detail }) => detail)]).toEqual([409, 'ambiguous_object', ['one', 'two']])
    expect((await call('GET', 'made/objects/ckpt/a?component=two')).body).toBe('from two')
    const { items } = shaped(await call('GET', 'made/objects'), objectList)
    expect(items.map(({ component, path }) => [component, path])).toEqual([
      ['one', 'ckpt/a'],
      ['two', 'ckpt/a'],
    ])
  })

  it('are no more than the quota of the drive, and the figures are told', async () => {
    const small = (path: string, payload: string) => call('PUT', `small/objects/${path}`, { payload })
    expect((await small('a', '12345678')).statusCode).toBe(201)
    expect(problemOf(await small('b', '12345'))).toMatchObject({
      status: 507,
      code: 'quota_exceeded',
      detail: expect.stringContaining('2 are left') as string,
    })
    expect((await small('a', '1234567890')).statusCode).toBe(200)
    await call('DELETE', 'small/objects/a')
    for (const path of ['a', 'b']) expect((await small(path, 'x')).statusCode).toBe(201)
    expect(problemOf(await small('c', 'x')).detail).toContain('2 of 2 objects')
    expect(((await call('GET', 'small')).json() as { usage: object }).usage).toEqual({ bytes: 2, objects: 2 })
  })

  it('are counted anew where jobs have written behind the figures', async () => {
    const made = await api.call('POST', '/v1/drives', { body: { name: 'counted', kind: 'managed' } })
    await call('PUT', 'counted/objects/a', { payload: 'abc' })
    await writeFile(join(api.berth.drives, (made.json() as { id: string }).id, 'data', 'b'), 'written by a job')
    expect((await call('GET', 'counted')).json()).toMatchObject({ usage: { bytes: 3, objects: 1 } })
    expect((await api.call('POST', '/v1/drives/counted/recount')).json()).toMatchObject({ usage: { bytes: 19, objects: 2 } })
    expect((await call('GET', 'counted')).json()).toMatchObject({ usage: { bytes: 19, objects: 2 } })
    expect(problemOf(await api.call('POST', '/v1/drives/files/recount')).code).toBe('operation_unsupported')
  })

  it('case 17: are changed only as the drive allows, and are not on a drive that is a file system', async () => {
    expect((await call('PUT', 'once/objects/x', { payload: 'x' })).statusCode).toBe(201)
    expect((await call('PUT', 'once/objects/x', { payload: 'y' })).statusCode).toBe(412)
    expect(problemOf(await call('DELETE', 'once/objects/x')).code).toBe('access_denied')
    expect(problemOf(await call('PUT', 'fixed/objects/x', { payload: 'x' })).code).toBe('access_denied')
    expect(problemOf(await call('GET', 'files/objects'))).toMatchObject({ status: 405, code: 'operation_unsupported' })
    expect(problemOf(await call('GET', 'nowhere/objects/x')).status).toBe(404)
  })

  it('tell their changes in order, without gaps', async () => {
    await api.call('POST', '/v1/drives', { body: { name: 'told', kind: 'managed' } })
    for (const path of ['x', 'y']) await call('PUT', `told/objects/${path}`, { payload: path })
    await call('DELETE', 'told/objects/x')
    const { items } = (await call('GET', 'told/events')).json() as { items: { sequence: number; type: string; data: { path: string } }[] }
    expect(items.map(({ sequence, type, data }) => [sequence, type, data.path])).toEqual([
      [1, 'object_created', 'x'],
      [2, 'object_created', 'y'],
      [3, 'object_deleted', 'x'],
    ])
  })

  it('go out and come in as archives, the same bytes each time', async () => {
    for (const path of ['t/b/2', 't/a']) await put(path, path)
    const first = await call('GET', 'd/archive?prefix=t')
    await put('t/a', 't/a')
    expect((await call('GET', 'd/archive?prefix=t')).rawPayload.equals(first.rawPayload)).toBe(true)
    const answer = await call('PUT', 'd/archive?prefix=t2', { payload: first.rawPayload, headers: { 'content-type': 'application/x-tar' } })
    expect(answer.json()).toEqual({ objects: 2, bytes: 8 })
    expect((await call('GET', 'd/objects/t2/b/2')).body).toBe('t/b/2')
  })

  type Entry = Parameters<ReturnType<typeof pack>['entry']>[0]
  const hostile: [string, Entry[]][] = [
    ['an absolute path', [{ name: '/etc/x' }]],
    ['a path that climbs', [{ name: 'a/../../x' }]],
    ['a path that begins with ..', [{ name: '../x' }]],
    ['a symbolic link', [{ name: 'l', type: 'symlink', linkname: '/etc' }]],
    ['a hard link', [{ name: 'l', type: 'link', linkname: 'a' }]],
    ['a device', [{ name: 'd', type: 'character-device' }]],
    ['a fifo', [{ name: 'f', type: 'fifo' }]],
    ['the same file twice', [{ name: 'a' }, { name: 'a' }]],
    ['the same file in another spelling', [{ name: 'a' }, { name: './a' }]],
    ['a file below a file', [{ name: 'a' }, { name: 'a/b' }]],
    ['a backslash', [{ name: 'a\\b' }]],
    ['a place that is ours', [{ name: '.berth/x' }]],
    ['a name without normal form', [{ name: 'a\u0308' }]],
    ['a file without a name', [{ name: './' }, { name: '' }]],
  ]
  it.each(hostile)('case 32: an archive with %s leaves nothing', async (name, entries) => {
    const archive = pack()
    archive.entry({ name: 'good' }, 'good')
    for (const entry of entries) archive.entry(entry, entry.type === undefined ? 'x' : '')
    archive.finalize()
    const chunks: Buffer[] = []
    for await (const chunk of archive) chunks.push(chunk as Buffer)
    const prefix = `hostile-${name.replaceAll(' ', '-').replaceAll('.', '')}`
    const answer = await call('PUT', `d/archive?prefix=${prefix}`, {
      payload: Buffer.concat(chunks),
      headers: { 'content-type': 'application/x-tar' },
    })
    expect([409, 422], answer.body).toContain(answer.statusCode)
    expect(shaped(await call('GET', `d/objects?prefix=${prefix}/`), objectList).items).toEqual([])
  })

  it('case 32: an archive that is cut off leaves nothing', async () => {
    const archive = pack()
    for (const name of ['a', 'b']) archive.entry({ name }, randomBytes(10_000))
    archive.finalize()
    const chunks: Buffer[] = []
    for await (const chunk of archive) chunks.push(chunk as Buffer)
    const payload = Buffer.concat(chunks).subarray(0, 15_000)
    const answer = await call('PUT', 'd/archive?prefix=cut', { payload, headers: { 'content-type': 'application/x-tar' } })
    expect(answer.statusCode, answer.body).toBeGreaterThanOrEqual(400)
    expect(shaped(await call('GET', 'd/objects?prefix=cut/'), objectList).items).toEqual([])
  })
})
