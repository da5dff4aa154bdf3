import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { OpenAPIV3_1 } from 'openapi-types'
import { requirePostgres } from '../../support/requirements.ts'
import { createTestApi, type TestApi } from './test-api.ts'

type Operation = OpenAPIV3_1.OperationObject

describe.skipIf(requirePostgres().missing)('the OpenAPI document', () => {
  let api: TestApi
  let document: OpenAPIV3_1.Document
  beforeAll(async () => {
    api = await createTestApi()
    document = (await api.app.inject('/openapi.json')).json<OpenAPIV3_1.Document>()
  })
  afterAll(() => api.stop())

  const operations = (): [string, Operation][] =>
    Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
      Object.entries(item ?? {}).map(([method, operation]) => [`${method} ${path}`, operation as Operation] as [string, Operation]),
    )

  it('has every address of the API with an id of its own, a summary, a tag and problems', () => {
    expect(operations().map(([name]) => name)).toEqual(
      expect.arrayContaining(['post /v1/jobs', 'get /v1/jobs/{id}/logs', 'put /v1/job-definitions/{name}', 'get /metrics', 'get /livez']),
    )
    expect(new Set(operations().map(([, { operationId }]) => operationId)).size).toBe(operations().length)
    for (const [name, { summary, tags, responses }] of operations()) {
      expect([name, summary === undefined, tags?.length]).toEqual([name, false, 1])
      expect(Object.keys(responses ?? {})).toEqual(expect.arrayContaining(['4XX', 'default']))
    }
  })

  it('says which addresses are open', () => {
    const open = operations().filter(([, { security }]) => security?.length === 0)
    expect(open.map(([name]) => name)).toEqual(['get /livez', 'get /readyz'])
    expect(document.security).toEqual([{ apiKey: [] }])
  })

  it('tells the members of its unions apart, and has every component once', () => {
    const schemas = document.components?.schemas ?? {}
    expect(schemas['Mount']).toMatchObject({ discriminator: { propertyName: 'type' } })
    expect(schemas['MountBody']).toMatchObject({ discriminator: { propertyName: 'type' } })
    expect(schemas['MountPlan']).toMatchObject({ discriminator: { propertyName: 'via' } })
    expect(Object.keys(schemas).filter((name) => name.endsWith('Input'))).toEqual([])
  })
})
