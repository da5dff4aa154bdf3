import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requirePostgres } from '../../support/requirements.ts'
import { aJob, API_KEY, createTestApi, problemOf, shaped, type TestApi } from './test-api.ts'
import { job } from '../../../src/routes/schemas/job.ts'

const UNKNOWN = 'job_01h455vb4pex5vsknk084sn02q'
const JSON_TYPE = 'application/json'

describe.skipIf(requirePostgres().missing)('bad input', () => {
  let api: TestApi
  let port: number
  beforeAll(async () => {
    api = await createTestApi()
    await api.app.listen({ host: '127.0.0.1', port: 0 })
    port = (api.app.server.address() as AddressInfo).port
  })
  afterAll(() => api.stop())

  const send = (payload: string | Buffer, type?: string) =>
    api.app.inject({
      method: 'POST',
      url: '/v1/jobs',
      headers: { authorization: `Bearer ${API_KEY}`, ...(type && { 'content-type': type }) },
      payload,
    })

  it.each([
    ['no JSON', '{"name":', JSON_TYPE, '400 malformed_request'],
    ['trailing words', '{} {}', JSON_TYPE, '400 malformed_request'],
    ['nothing', '', JSON_TYPE, '400 malformed_request'],
    ['null', 'null', JSON_TYPE, '400 malformed_request'],
    ['bytes that are not UTF-8', Buffer.from([0x22, 0xff, 0x22]), JSON_TYPE, '400 malformed_request'],
    ['a prototype key', '{"__proto__": {"scheduler": "fake"}}', JSON_TYPE, '400 malformed_request'],
    ['a prototype key deep inside', '{"roles": [{"env": {"constructor": {"prototype": {}}}}]}', JSON_TYPE, '400 malformed_request'],
    ['too deep nesting', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, JSON_TYPE, '400 malformed_request'],
    ['more than 1 MiB', JSON.stringify({ name: 'x'.repeat(1024 * 1024) }), JSON_TYPE, '413 body_too_large'],
    ['plain text', '{}', 'text/plain', '415 unsupported_media_type'],
    ['a form', 'a=b', 'application/x-www-form-urlencoded', '415 unsupported_media_type'],
    ['no content type', '{}', undefined, '415 unsupported_media_type'],
    ['another charset', '{}', 'application/json; charset=latin1', '415 unsupported_media_type'],
    ['a content type that only begins like JSON', '{}', 'application/json\ta', '415 unsupported_media_type'],
    ['a list', '[]', JSON_TYPE, '422 invalid_request'],
    ['a string', '"job"', JSON_TYPE, '422 invalid_request'],
  ])('refuses a body with %s', async (_what, payload, type, expected) => {
    const { status, code } = problemOf(await send(payload, type))
    expect(`${status} ${code}`).toBe(expected)
  })

  it.each([JSON_TYPE, 'application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'Application/JSON'])(
    'takes the content type %s',
    async (type) => {
      expect(shaped(await send(JSON.stringify(aJob()), type), job).state).toBe('queued')
    },
  )

  it('names every fault of a body at once, with its place and what would be right', async () => {
    const body = aJob({ replica: 2, timeoutSeconds: 'long', roles: [{ command: ['true'], replicas: 0, env: { BERTH_X: 'y' } }] })
    const problem = problemOf(await api.call('POST', '/v1/jobs', { body }))
    expect(problem).toMatchObject({ code: 'invalid_request', status: 422, instance: '/v1/jobs' })
    const pointers = problem.errors.map(({ pointer }) => pointer)
    expect(pointers).toEqual(expect.arrayContaining(['/replica', '/timeoutSeconds', '/roles/0/replicas', '/roles/0/env/BERTH_X']))
    expect(problem.errors.every(({ code, detail }) => code !== '' && detail !== '')).toBe(true)
  })

  it('treats keys that objects have by nature as what they are: unknown fields', async () => {
    const problem = problemOf(await api.call('POST', '/v1/jobs', { body: aJob({ toString: 1, hasOwnProperty: 2 }) }))
    expect(problem.errors.map(({ pointer }) => pointer).sort()).toEqual(['/hasOwnProperty', '/toString'])
  })

  it.each([
    ['/v1/jobs?state=done', '?state'],
    ['/v1/jobs?state=running,done', '?state'],
    ['/v1/jobs?limit=0', '?limit'],
    ['/v1/jobs?limit=-1', '?limit'],
    ['/v1/jobs?limit=1e1', '?limit'],
    ['/v1/jobs?limit=ten', '?limit'],
    ['/v1/jobs?limit=1&limit=2', '?limit'],
    ['/v1/jobs?label=team', '?label'],
    ['/v1/jobs?label=a=1&label=a=2', '?label'],
    ['/v1/jobs?name=%00', '?name'],
    ['/v1/jobs?nam=x', '?nam'],
    ['/v1/jobs?__proto__=x', '?__proto__'],
    [`/v1/jobs/${UNKNOWN}?wait=soon`, '?wait'],
    [`/v1/jobs/${UNKNOWN}?wait=61`, '?wait'],
    [`/v1/jobs/${UNKNOWN}?wait=-1`, '?wait'],
    [`/v1/jobs/${UNKNOWN}/events?after=x`, '?after'],
    [`/v1/jobs/${UNKNOWN}/logs?follow=maybe`, '?follow'],
    [`/v1/jobs/${UNKNOWN}/logs?stream=stdin`, '?stream'],
    [`/v1/jobs/${UNKNOWN}/logs?since=yesterday`, '?since'],
    [`/v1/jobs/${UNKNOWN}/logs?tail=all`, '?tail'],
    [`/v1/jobs/${UNKNOWN}/logs?replica=-1`, '?replica'],
    ['/v1/schedulers?x=1', '?x'],
    ['/v1/job-definitions?limit=x', '?limit'],
    ['/v1/job-definitions/x/versions/zero', '/version'],
  ])('refuses %s and points to %s', async (url, pointer) => {
    const problem = problemOf(await api.call('GET', url))
    expect(problem).toMatchObject({ status: 422, code: 'invalid_request' })
    expect(problem.errors.map((fault) => fault.pointer)).toEqual([pointer])
  })

  it.each(['/v1/jobs?cursor=junk', '/v1/job-definitions?cursor=junk', '/v1/jobs?cursor=%FF'])('refuses the cursor of %s', async (url) => {
    const problem = problemOf(await api.call('GET', url))
    expect(problem.status).toBe(400)
  })

  it.each([
    ['GET', `/v1/jobs/${UNKNOWN}`],
    ['GET', `/v1/jobs/${UNKNOWN}?wait=5`],
    ['GET', '/v1/jobs/nothing'],
    ['GET', `/v1/jobs/${'x'.repeat(600)}`],
    ['GET', '/v1/jobs/%2e%2e%2f%00'],
    ['POST', `/v1/jobs/${UNKNOWN}/cancel`],
    ['POST', '/v1/jobs/preview/cancel'],
    ['GET', `/v1/jobs/${UNKNOWN}/events`],
    ['GET', `/v1/jobs/${UNKNOWN}/logs`],
    ['GET', '/v1/job-definitions/nothing'],
    ['GET', '/v1/job-definitions/nothing/versions'],
    ['GET', '/v1/job-definitions/nothing/versions/1'],
    ['GET', '/v1/nothing'],
    ['GET', '/'],
    ['GET', '/v1/jobs/'],
  ] as const)('finds nothing at %s %s', async (method, url) => {
    expect(problemOf(await api.call(method, url))).toMatchObject({ status: 404, code: 'not_found' })
  })

  it.each([
    ['DELETE', '/v1/jobs', 'GET, HEAD, POST, OPTIONS'],
    ['PUT', `/v1/jobs/${UNKNOWN}`, 'GET, HEAD, OPTIONS'],
    ['GET', `/v1/jobs/${UNKNOWN}/cancel`, 'POST, OPTIONS'],
    ['POST', `/v1/jobs/${UNKNOWN}/logs`, 'GET, OPTIONS'],
    ['POST', '/v1/job-definitions/train', 'DELETE, GET, HEAD, PUT, OPTIONS'],
  ] as const)('says for %s %s which methods there are', async (method, url, allow) => {
    const response = await api.call(method, url)
    expect(problemOf(response)).toMatchObject({ status: 405, code: 'method_not_allowed' })
    expect(response.headers['allow']).toBe(allow)
  })

  it('says the same when asked by OPTIONS', async () => {
    const response = await api.app.inject({ method: 'OPTIONS', url: '/v1/jobs', headers: { authorization: `Bearer ${API_KEY}` } })
    expect([response.statusCode, response.headers['allow']]).toEqual([204, 'GET, HEAD, POST, OPTIONS'])
  })

  it('refuses a media type that it cannot give', async () => {
    const response = await api.call('GET', `/v1/jobs/${UNKNOWN}/events`, { headers: { accept: 'application/xml' } })
    expect(problemOf(response)).toMatchObject({ status: 406, code: 'not_acceptable' })
  })

  it('keeps a harmless request id and replaces any other', async () => {
    const given = async (id: string) => (await api.call('GET', '/v1/nothing', { headers: { 'x-request-id': id } })).headers['x-request-id']
    expect(await given('trace-1')).toBe('trace-1')
    expect(await given('x'.repeat(65))).toMatch(/^req_/)
    expect(await given('a b')).toMatch(/^req_/)
  })

  it('tells a client that sends 10 MB so, while it is still sending', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/jobs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': JSON_TYPE },
      body: Buffer.alloc(10_000_000, ' '),
    })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ code: 'body_too_large' })
  })

  it.each([
    ['what is not HTTP', 'HELLO\r\n\r\n', '400 Bad Request'],
    ['headers that are too long', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`, '400 Bad Request'],
    ['a broken percent escape', 'GET /v1/jobs/%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', '400 Bad Request'],
  ])('answers %s with a problem', async (_what, words, status) => {
    const answer = await new Promise<string>((resolve, reject) => {
      let text = ''
      const socket = connect(port, '127.0.0.1', () => socket.write(words))
      socket
        .on('data', (chunk) => (text += chunk.toString()))
        .on('close', () => resolve(text))
        .on('error', reject)
    })
    expect(answer).toContain(`HTTP/1.1 ${status}`)
    expect(answer).toContain('"code":"malformed_request"')
  })
})
