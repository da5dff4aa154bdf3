import { describe, expect, it } from 'vitest'
import { Problem } from '../../../src/domain/problem.ts'
import { problemFromError } from '../../../src/plugins/problem-from-error.ts'

const withCode = (code: string, more: object = {}): Error => Object.assign(new Error('secret words'), { code, ...more })

describe('problemFromError', () => {
  it('leaves a problem as it is', () => {
    const problem = new Problem('wrong_state', 'It has ended.')
    expect(problemFromError(problem)).toBe(problem)
  })

  it.each([
    ['FST_ERR_CTP_INVALID_JSON_BODY', 'malformed_request'],
    ['FST_ERR_CTP_BODY_TOO_LARGE', 'body_too_large'],
    ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 'unsupported_media_type'],
    ['FST_ERR_BAD_URL', 'malformed_request'],
    ['FST_ERR_MAX_PARAM_LENGTH', 'not_found'],
  ])('tells %s by its code', (code, expected) => {
    expect(problemFromError(withCode(code)).code).toBe(expected)
  })

  it.each(['ECONNREFUSED', 'ECONNRESET', '57P01', '57P03', '08006', '53300', '57014', '40P01'])(
    'says that the database is away for %s',
    (code) => {
      const problem = problemFromError(withCode(code))
      expect(problem).toMatchObject({ code: 'unavailable', retryAfterSeconds: 2 })
      expect(problem.message).not.toContain('secret')
    },
  )

  it('knows the errors to which the driver gives no code', () => {
    expect(problemFromError(new Error('timeout exceeded when trying to connect')).code).toBe('unavailable')
  })

  it('takes a request that broke off for the fault of the client, not of the database', () => {
    expect(problemFromError(withCode('ECONNRESET', { statusCode: 400 })).code).toBe('malformed_request')
  })

  it.each([new Error('secret words'), withCode('42703'), withCode('23505'), 'a string', null, undefined, { statusCode: 500 }])(
    'makes an internal error of %s, without a word of it',
    (error) => {
      const problem = problemFromError(error)
      expect(problem.code).toBe('internal_error')
      expect(problem.message).not.toContain('secret')
    },
  )
})
