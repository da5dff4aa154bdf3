import Fastify, { type FastifyRequest } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { access } from '../../../src/plugins/access.ts'

describe('the access plugin', () => {
  it('keeps an app from starting that has a route which does not say who may call it', async () => {
    const app = Fastify()
    await app.register(access, { apiKey: 'k', findGrant: async () => null })
    app.get('/said', { config: { access: 'key' } }, () => 'x')
    app.post('/forgotten', () => 'x')
    await expect(app.ready()).rejects.toThrow('POST /forgotten')
  })

  it('starts one whose routes all say it', async () => {
    const app = Fastify()
    await app.register(access, { apiKey: 'k', findGrant: async () => null })
    app.get('/said', { config: { access: 'open' } }, () => 'x')
    await app.ready()
    expect((await app.inject('/said')).statusCode).toBe(200)
    await app.close()
  })

  describe('with the token of a job', () => {
    const grant = { project: 'default', drive: 'd', access: 'rw', prefix: 'runs/1', producer: 'job_1' } as const
    const app = Fastify()
    const authorization = 'Bearer token'
    beforeAll(async () => {
      await app.register(access, { apiKey: 'k', findGrant: async (token) => (token === 'token' ? grant : null) })
      const told = ({ grant: found }: FastifyRequest) => found?.drive ?? 'key'
      app.route({ method: ['GET', 'PUT'], url: '/drives/:name/objects/*', config: { access: 'key', reach: 'path' }, handler: told })
      app.route({ method: ['GET', 'PUT'], url: '/drives/:name/objects', config: { access: 'key', reach: 'prefix' }, handler: told })
      app.get('/jobs', { config: { access: 'key' } }, told)
    })
    afterAll(() => app.close())

    it.each([
      ['GET', '/drives/d/objects/runs/1/x'],
      ['GET', '/drives/d/objects/runs/1'],
      ['PUT', '/drives/d/objects/runs/1/a/b?component=job_1'],
      ['GET', '/drives/d/objects/runs/1/x?component=job_2'],
      ['GET', '/drives/d/objects?prefix=runs/1/'],
    ] as const)('lets %s %s in', async (method, url) => {
      expect((await app.inject({ method, url, headers: { authorization } })).body).toBe('d')
    })

    it.each([
      ['GET', '/jobs'],
      ['GET', '/drives/other/objects/runs/1/x'],
      ['GET', '/drives/d/objects/runs/10/x'],
      ['GET', '/drives/d/objects/runs'],
      ['PUT', '/drives/d/objects/runs/1/x?component=job_2'],
      ['GET', '/drives/d/objects'],
      ['GET', '/drives/d/objects?prefix=runs/1'],
      ['GET', '/drives/d/objects?prefix=runs/10'],
    ] as const)('refuses %s %s', async (method, url) => {
      expect((await app.inject({ method, url, headers: { authorization } })).json()).toMatchObject({ code: 'access_denied' })
      expect((await app.inject({ method, url, headers: { authorization: 'Bearer k' } })).body).toBe('key')
    })

    it('tells one that is good no longer as a stranger', async () => {
      const answer = await app.inject({ url: '/drives/d/objects/runs/1/x', headers: { authorization: 'Bearer old' } })
      expect(answer.statusCode).toBe(401)
    })
  })
})
