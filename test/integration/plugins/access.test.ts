import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { access } from '../../../src/plugins/access.ts'

describe('the access plugin', () => {
  it('keeps an app from starting that has a route which does not say who may call it', async () => {
    const app = Fastify()
    await app.register(access, { apiKey: 'k' })
    app.get('/said', { config: { access: 'key' } }, () => 'x')
    app.post('/forgotten', () => 'x')
    await expect(app.ready()).rejects.toThrow('POST /forgotten')
  })

  it('starts one whose routes all say it', async () => {
    const app = Fastify()
    await app.register(access, { apiKey: 'k' })
    app.get('/said', { config: { access: 'open' } }, () => 'x')
    await app.ready()
    expect((await app.inject('/said')).statusCode).toBe(200)
    await app.close()
  })
})
