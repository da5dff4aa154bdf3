import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import type { z } from 'zod'
import { buildApp } from '../../../src/app.ts'
import type { ProblemBody } from '../../../src/plugins/problem-body.ts'
import { problemBody } from '../../../src/plugins/problem-body.ts'
import { FakeScheduler } from '../../fakes/fake-scheduler.ts'
import { createTestBerth, type TestBerth } from '../../support/berth.ts'
import { ANYTHING } from '../../support/capabilities.ts'

export const API_KEY = 'test-key-0123456789'

export interface TestApi {
  readonly app: FastifyInstance
  readonly berth: TestBerth
  /** Sends a request with the key. `body` is sent as JSON. */
  call(
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    request?: { body?: unknown; headers?: Record<string, string> },
  ): Promise<LightMyRequestResponse>
  stop(): Promise<void>
}

/** The whole API on a database of its own, with a fake scheduler `fake` and no worker. */
export async function createTestApi(): Promise<TestApi> {
  const berth = await createTestBerth({ fake: new FakeScheduler(ANYTHING) })
  const app = await buildApp({ ...berth.deps, apiKey: API_KEY })
  return {
    app,
    berth,
    call: (method, url, { body, headers } = {}) =>
      app.inject({
        method,
        url,
        headers: { authorization: `Bearer ${API_KEY}`, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { payload: JSON.stringify(body) }),
      }),
    async stop() {
      await app.close()
      await berth.stop()
    },
  }
}

/** A job for the fake scheduler that needs nothing. */
export const aJob = (more: object = {}): object => ({ name: 'train', scheduler: 'fake', roles: [{ command: ['true'] }], ...more })

/** The body of an answer, which has exactly the fields that its schema documents. */
export function shaped<S extends z.ZodType>(response: LightMyRequestResponse, schema: S): z.infer<S> {
  const body: unknown = response.json()
  expect(schema.parse(body)).toEqual(body)
  return body as z.infer<S>
}

/** The problem that an answer is, in its documented form and with the status that it names. */
export function problemOf(response: LightMyRequestResponse): ProblemBody {
  expect(response.headers['content-type']).toBe('application/problem+json')
  const problem = shaped(response, problemBody)
  expect(problem.status).toBe(response.statusCode)
  expect(problem.requestId).toBe(response.headers['x-request-id'])
  return problem
}
