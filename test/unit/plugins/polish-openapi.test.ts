import type { OpenAPIV3_1 } from 'openapi-types'
import { describe, expect, it } from 'vitest'
import { polishOpenApi } from '../../../src/plugins/polish-openapi.ts'

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** The components after polishing; each is used by the one path. */
function polished(schemas: Record<string, object>): Record<string, unknown> {
  const uses = Object.keys(schemas).map(ref)
  const document = { openapi: '3.1.0', info: { title: 't', version: '1' }, paths: { '/': { uses } }, components: { schemas } }
  const { components, paths } = polishOpenApi(document as unknown as OpenAPIV3_1.Document)
  return { ...components?.schemas, uses: (paths as unknown as { '/': { uses: unknown } })['/'].uses }
}

describe('polishOpenApi', () => {
  it('folds the input form of a schema into it where they are the same, and mends the references', () => {
    const shape = { type: 'object', properties: { next: ref('Job') } }
    const input = { type: 'object', properties: { next: ref('JobInput') }, additionalProperties: false }
    expect(polished({ Job: shape, JobInput: input })).toEqual({
      Job: { type: 'object', properties: { next: ref('Job') } },
      uses: [ref('Job'), ref('Job')],
    })
  })

  it('keeps both forms where they differ', () => {
    expect(Object.keys(polished({ Job: { type: 'string' }, JobInput: { type: 'integer' } }))).toEqual(['Job', 'JobInput', 'uses'])
  })

  it('tells the members of a union apart by the constant that they share', () => {
    const member = (value: string) => ({ type: 'object', properties: { type: { type: 'string', const: value } }, required: ['type'] })
    const { Mount } = polished({ Mount: { oneOf: [ref('Bind'), ref('Tmpfs')] }, Bind: member('bind'), Tmpfs: member('tmpfs') })
    expect(Mount).toMatchObject({
      discriminator: { propertyName: 'type', mapping: { bind: ref('Bind').$ref, tmpfs: ref('Tmpfs').$ref } },
    })
  })

  it('gives a union without such a constant no discriminator', () => {
    const { Either } = polished({ Either: { anyOf: [ref('A'), ref('B')] }, A: { type: 'object' }, B: { type: 'object' } })
    expect(Either).not.toHaveProperty('discriminator')
  })

  it('writes nullable types as lists, and leaves nullable references', () => {
    const { A, B } = polished({
      A: { description: 'd', anyOf: [{ type: 'string', format: 'date-time', pattern: 'long' }, { type: 'null' }] },
      B: { anyOf: [ref('A'), { type: 'null' }] },
    })
    expect(A).toEqual({ description: 'd', type: ['string', 'null'], format: 'date-time' })
    expect(B).toEqual({ anyOf: [ref('A'), { type: 'null' }] })
  })

  it('gives whole numbers a format in place of the bounds of JavaScript', () => {
    const bounds = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }
    const { A, B } = polished({ A: { type: 'integer', ...bounds }, B: { type: 'integer', minimum: 1, maximum: 1000 } })
    expect(A).toEqual({ type: 'integer', format: 'int64' })
    expect(B).toEqual({ type: 'integer', minimum: 1, maximum: 1000, format: 'int32' })
  })

  it('drops components that nothing refers to, and does not touch examples', () => {
    const document = {
      openapi: '3.1.0',
      info: { title: 't', version: '1' },
      paths: { '/': { uses: ref('A') } },
      components: { schemas: { A: { type: 'object', examples: [{ const: 'x', additionalProperties: false }] }, B: { type: 'string' } } },
    }
    expect(polishOpenApi(document as unknown as OpenAPIV3_1.Document).components?.schemas).toEqual({
      A: { type: 'object', examples: [{ const: 'x', additionalProperties: false }] },
    })
  })
})
