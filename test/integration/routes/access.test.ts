import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requirePostgres } from '../../support/requirements.ts'
import { problemOf, createTestApi, type TestApi } from './test-api.ts'

const OPEN = ['/livez', '/readyz', '/openapi.json']

describe.skipIf(requirePostgres().missing)('access', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await createTestApi()
  })
  afterAll(() => api.stop())

  /** Every route of the app as `METHOD /path`, as Fastify itself tells it. */
  function allRoutes(): string[] {
    const lines = api.app.printRoutes({ commonPrefix: false }).split('\n')
    const stack: string[] = []
    return lines.flatMap((line) => {
      const match = /^([│ ]*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line)
      if (!match) return []
      const [, indent = '', part = '', methods] = match
      stack.splice(indent.length / 4)
      stack.push(part)
      const path = stack.join('').replace(/:\w+/g, 'x').replace('*', 'x')
      return methods?.split(', ').map((method) => `${method} ${path}`) ?? []
    })
  }

  it('is denied to every route but those that are open on purpose, without a key and with a junk key', async () => {
    const routes = allRoutes()
    expect(routes.length).toBeGreaterThan(20)
    const open: string[] = []
    for (const route of routes) {
      const [method, url] = route.split(' ') as ['GET', string]
      const answers = []
      for (const headers of [{}, { authorization: 'Bearer junk' }, { authorization: 'Basic dGVzdA==' }, { authorization: 'Bearer' }]) {
        answers.push((await api.app.inject({ method, url, headers })).statusCode)
      }
      if (answers.some((status) => status !== 401)) open.push(url)
    }
    expect(new Set(open.filter((url) => url !== '/docs' && !url.startsWith('/docs/')))).toEqual(new Set(OPEN))
  })

  it('is denied to what is not there as well, so that nothing can be probed', async () => {
    expect((await api.app.inject('/v1/nothing')).statusCode).toBe(401)
    expect((await api.app.inject({ method: 'DELETE', url: '/v1/jobs' })).statusCode).toBe(401)
  })

  it('says how to come in', async () => {
    const without = await api.app.inject('/v1/jobs')
    expect(without.headers['www-authenticate']).toBe('Bearer realm="berth"')
    expect(problemOf(without)).toMatchObject({ code: 'unauthenticated', retryable: false })
    const junk = await api.app.inject({ url: '/v1/jobs', headers: { authorization: 'Bearer junk' } })
    expect(junk.headers['www-authenticate']).toContain('invalid_token')
    expect(junk.body).not.toContain('junk')
  })

  it('is given for the key, whatever the case of the scheme', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const response = await api.app.inject({ url: '/v1/jobs', headers: { authorization: `${scheme} test-key-0123456789` } })
      expect(response.statusCode).toBe(200)
    }
  })

  it('does not read the body of a request without a key', async () => {
    const response = await api.app.inject({
      method: 'POST',
      url: '/v1/jobs',
      headers: { 'content-type': 'application/json' },
      payload: '{',
    })
    expect(response.statusCode).toBe(401)
  })

  it('serves the document and the page that shows it to everybody', async () => {
    const page = await api.app.inject('/docs/')
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('swagger')
    expect((await api.app.inject('/openapi.json')).json()).toMatchObject({ openapi: '3.1.0', info: { title: 'Berth' } })
  })
})
