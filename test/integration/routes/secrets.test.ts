import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { secret, secretPage } from '../../../src/routes/schemas/secret.ts'
import { openSecret } from '../../../src/services/secrets/open-secret.ts'
import { requirePostgres } from '../../support/requirements.ts'
import { createTestApi, problemOf, shaped, type TestApi } from './test-api.ts'

const VALUE = { type: 's3_keys', accessKeyId: 'AKIA-SEEN-NOWHERE', secretAccessKey: 'this-must-be-seen-nowhere' }

describe.skipIf(requirePostgres().missing)('secrets', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await createTestApi()
  })
  afterAll(() => api.stop())

  const create = (name: string, value: object = VALUE) => api.call('POST', '/v1/secrets', { body: { name, value } })

  it('go in and never come out again', async () => {
    const answers = [await create('keys'), await api.call('GET', '/v1/secrets/keys'), await api.call('GET', '/v1/secrets')]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 200, 200])
    expect(shaped(answers[0]!, secret)).toMatchObject({ name: 'keys', version: 1 })
    expect(shaped(answers[2]!, secretPage).items.map(({ name }) => name)).toEqual(['keys'])
    for (const { body } of answers) expect(body).not.toContain('nowhere')
  })

  it('are what they were for those who use them', async () => {
    expect(await openSecret(api.berth.deps, { project: 'default', name: 'keys' })).toEqual(VALUE)
    expect(await openSecret(api.berth.deps, { project: 'default', name: 'none' })).toBeNull()
  })

  it('are sealed in the database, each under a key of its own', async () => {
    await create('keys2')
    const { rows } = await api.berth.database.pool.query<{ sealed: Buffer; sealed_key: Buffer }>('SELECT sealed, sealed_key FROM secret')
    expect(new Set(rows.map(({ sealed_key: key }) => key.toString('hex'))).size).toBe(rows.length)
    const all = await promisify(execFile)('psql', [api.berth.database.url, '-c', 'SELECT * FROM secret', '-A'], { maxBuffer: 1e8 }).catch(
      () => ({ stdout: JSON.stringify(rows) }),
    )
    expect(all.stdout + rows.map(({ sealed }) => sealed.toString('latin1')).join('')).not.toContain('nowhere')
  })

  it('do not open when what is sealed was moved to another', async () => {
    await create('moved')
    await api.berth.database.pool.query(
      "UPDATE secret SET sealed = o.sealed, sealed_key = o.sealed_key FROM secret o WHERE o.name = 'keys' AND secret.name = 'moved'",
    )
    await expect(openSecret(api.berth.deps, { project: 'default', name: 'moved' })).rejects.toThrow()
  })

  it('have a next version by PUT, from the one that was seen', async () => {
    const put = (tag: string) =>
      api.call('PUT', '/v1/secrets/keys', { body: { value: { type: 'opaque', value: 'other' } }, headers: { 'if-match': tag } })
    expect(shaped(await put('"keys-1"'), secret).version).toBe(2)
    expect(problemOf(await put('"keys-1"')).status).toBe(412)
    expect(await openSecret(api.berth.deps, { project: 'default', name: 'keys' })).toEqual({ type: 'opaque', value: 'other' })
  })

  it('say nothing of a value that is wrong', async () => {
    const problem = problemOf(await create('wrong', { type: 's3_keys', accessKeyId: 'seen-nowhere', secretAccessKey: 7 }))
    expect(problem.errors).toMatchObject([{ pointer: '/value/secretAccessKey' }])
    expect(JSON.stringify(problem)).not.toContain('nowhere')
  })

  it('cannot be deleted while a drive names them', async () => {
    await create('needed')
    await api.call('POST', '/v1/drives', {
      body: { name: 'needs', kind: 's3', bucket: 'abc', credentials: { method: 'secret', secret: 'needed' } },
    })
    expect(problemOf(await api.call('DELETE', '/v1/secrets/needed'))).toMatchObject({
      code: 'secret_in_use',
      detail: expect.stringContaining('needs') as string,
    })
    await api.call('DELETE', '/v1/drives/needs', { headers: { 'if-match': '*' } })
    expect((await api.call('DELETE', '/v1/secrets/needed')).statusCode).toBe(204)
  })
})
