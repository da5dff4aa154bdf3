import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HOSTILE_PATHS } from '../../support/hostile-paths.ts'
import { requirePostgres } from '../../support/requirements.ts'
import { aJob, API_KEY, createTestApi, type TestApi } from './test-api.ts'

const authorization = `Bearer ${API_KEY}`
const CANARY = 'canary of another drive'

describe.skipIf(requirePostgres().missing)('paths that nobody vouches for', () => {
  let api: TestApi
  let address: string
  let folder: string
  beforeAll(async () => {
    api = await createTestApi()
    address = await api.app.listen({ host: '127.0.0.1', port: 0 })
    for (const name of ['hostile', 'other']) await api.call('POST', '/v1/drives', { body: { name, kind: 'managed' } })
    await send('PUT', '/v1/drives/other/objects/x', CANARY)
    folder = api.berth.drives
  })
  afterAll(() => api.stop())

  /** By hand: clients make a path plain before they send it. */
  const send = (method: string, path: string, body?: string): Promise<{ status: number; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = { authorization, ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }) }
      const sent = request(address, { method, path, headers }, (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => void chunks.push(chunk))
        answer.once('end', () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
      })
      sent.once('error', reject)
      sent.end(body)
    })
  /** All files of the drive, and of whatever lies beside it. */
  const filesOf = async (directory: string): Promise<string[]> =>
    (await readdir(directory, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort((a, b) => a.localeCompare(b))
  /** A lone surrogate cannot be encoded; three bytes that stand for it can be sent. */
  const encoded = (text: string): string =>
    [...text].map((each) => (/[\ud800-\udfff]/.test(each) && each.length === 1 ? '%ed%a0%80' : encodeURIComponent(each))).join('')

  it('are more than a hundred', () => {
    expect(HOSTILE_PATHS.length).toBeGreaterThan(100)
  })

  it.each([
    ['with every sign encoded', (path: string) => encoded(path)],
    ['with the slashes as they are', (path: string) => path.split('/').map(encoded).join('/')],
  ])('name no object, %s', async (_, write) => {
    const before = await filesOf(folder)
    for (const path of HOSTILE_PATHS) {
      for (const method of ['PUT', 'GET', 'DELETE']) {
        const { status, text } = await send(method, `/v1/drives/hostile/objects/${write(path)}`, method === 'PUT' ? 'evil' : undefined)
        expect([400, 404, 414], `${method} ${JSON.stringify(path)}: ${status} ${text}`).toContain(status)
        expect(text).not.toContain(CANARY)
      }
    }
    expect(await filesOf(folder)).toEqual(before)
  })

  // A plain beginning may stand there, and a header of the old form ends at its first zero.
  const inArchives = HOSTILE_PATHS.filter((path) => !/[\ud800-\udfff]/u.test(path) && !['./x', '././x'].includes(path))

  it.each([
    ['in a plain header', inArchives.filter((path) => !path.includes('\u0000')), (name: string) => ({ name })],
    ['in an extended header', inArchives, (path: string) => ({ name: 'plain', pax: { path } })],
  ])('name no entry of an archive, %s, whatever else it holds', async (_, names, headerOf) => {
    const before = await filesOf(folder)
    for (const name of names) {
      const archive = pack()
      archive.entry({ name: 'good' }, 'good')
      archive.entry(headerOf(name), 'evil')
      archive.finalize()
      const chunks: Buffer[] = []
      for await (const chunk of archive) chunks.push(chunk as Buffer)
      const answer = await api.app.inject({
        method: 'PUT',
        url: '/v1/drives/hostile/archive',
        payload: Buffer.concat(chunks),
        headers: { authorization, 'content-type': 'application/x-tar' },
      })
      expect([400, 409, 422], `${JSON.stringify(name)}: ${answer.body}`).toContain(answer.statusCode)
    }
    expect(await filesOf(folder)).toEqual(before)
  })

  it('are no part of a drive that a job can mount, and no place to mount it at', async () => {
    for (const subPath of HOSTILE_PATHS.filter((path) => path !== '/' && !/^[^/.\\][^/\\]*\/$|^a\/b\/$/.test(path) && path.length < 500)) {
      const job = aJob({ roles: [{ command: ['true'], mounts: [{ type: 'drive', drive: 'hostile', mode: 'copy_in', subPath }] }] })
      const answer = await api.call('POST', '/v1/jobs', { body: job })
      expect([400, 422], `${JSON.stringify(subPath)}: ${answer.body}`).toContain(answer.statusCode)
    }
  })

  it('have changed nothing of the others', async () => {
    expect((await send('GET', '/v1/drives/other/objects/x')).text).toBe(CANARY)
  })
})
