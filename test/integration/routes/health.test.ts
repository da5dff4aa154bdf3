import pg from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildApp } from '../../../src/app.ts'
import { createDb } from '../../../src/db/pool.ts'
import { requirePostgres } from '../../support/requirements.ts'
import { API_KEY, aJob, createTestApi, problemOf, type TestApi } from './test-api.ts'

describe.skipIf(requirePostgres().missing)('health', () => {
  let api: TestApi
  beforeAll(async () => {
    api = await createTestApi()
  })
  afterAll(() => api.stop())

  it('is good while the database answers', async () => {
    for (const url of ['/livez', '/readyz']) {
      const response = await api.app.inject(url)
      expect([response.statusCode, response.json()]).toEqual([200, { status: 'ok' }])
    }
  })

  it('can be measured, by route and not by address', async () => {
    await api.call('GET', '/v1/jobs/job_01h455vb4pex5vsknk084sn02q')
    const response = await api.call('GET', '/metrics')
    expect(response.headers['content-type']).toContain('text/plain')
    expect(response.body).toContain('berth_http_request_duration_seconds_count{method="GET",route="/v1/jobs/:id",status="404"} 1')
    expect(response.body).toContain('berth_db_connections ')
    expect(response.body).toContain('process_cpu_seconds_total')
    expect(response.body).not.toContain('job_01h455vb4pex5vsknk084sn02q')
  })

  it('is unready and nothing worse without a database: requests are told to come again', async () => {
    const lines: string[] = []
    const pool = new pg.Pool({ host: '127.0.0.1', port: 1, user: 'secret-user', password: 'secret-password' })
    const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) })
    const app = await buildApp({ ...api.berth.deps, pool, db: createDb(pool), log, apiKey: API_KEY })
    try {
      expect((await app.inject('/livez')).statusCode).toBe(200)
      expect(problemOf(await app.inject('/readyz'))).toMatchObject({ status: 503, code: 'unavailable', retryable: true })
      const headers = { authorization: `Bearer ${API_KEY}` }
      for (const response of [
        await app.inject({ url: '/v1/jobs', headers }),
        await app.inject({ method: 'POST', url: '/v1/jobs', headers, payload: aJob() }),
      ]) {
        expect(problemOf(response)).toMatchObject({ status: 503, code: 'unavailable', retryable: true })
        expect(response.headers['retry-after']).toBe('2')
        expect(response.body).not.toMatch(/127\.0\.0\.1|ECONN|secret/)
      }
      expect(lines.join('')).not.toMatch(new RegExp(`${API_KEY}|secret-password`))
    } finally {
      await app.close()
      await pool.end()
    }
  })

  it('says nothing of a fault of ours but the id under which it is logged', async () => {
    const lines: string[] = []
    const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) })
    const db = new Proxy(api.berth.deps.db, {
      get() {
        throw new Error('secret words')
      },
    })
    const app = await buildApp({ ...api.berth.deps, db, log, apiKey: API_KEY })
    const response = await app.inject({ url: '/v1/jobs', headers: { authorization: `Bearer ${API_KEY}` } })
    const problem = problemOf(response)
    expect(problem).toMatchObject({ status: 500, code: 'internal_error' })
    expect(response.body).not.toContain('secret')
    expect(lines.join('')).toContain('secret words')
    expect(lines.join('')).toContain(problem.requestId)
    await app.close()
  })
})
