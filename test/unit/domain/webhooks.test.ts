import { describe, expect, it } from 'vitest'
import { parseRetryAfter, RETRY_SECONDS, retryDelaySeconds } from '../../../src/domain/webhooks/retry-schedule.ts'
import { newSigningKey, signatureHeader, verificationKey } from '../../../src/domain/webhooks/signature.ts'

describe('the schedule of a delivery', () => {
  it('is that of Standard Webhooks, a fifth longer or shorter, and ends after ten tries', () => {
    const delays = (random: number) => Array.from({ length: 10 }, (_, tries) => retryDelaySeconds(tries + 1, null, random))
    expect(delays(0.5)).toEqual([...RETRY_SECONDS.slice(1), null])
    expect(delays(0)[0]).toBeCloseTo(4)
    expect(delays(1)[8]).toBeCloseTo(86_400 * 1.2)
  })

  it('waits as long as the receiver asks for, a day at the most, and never less than planned', () => {
    expect(retryDelaySeconds(1, 60, 0.5)).toBe(60)
    expect(retryDelaySeconds(4, 60, 0.5)).toBe(7_200)
    expect(retryDelaySeconds(1, 1e9, 0.5)).toBe(86_400)
  })

  const now = new Date('2026-01-31T12:00:00Z')
  it.each([
    ['120', 120],
    [' 0', 0],
    ['Sat, 31 Jan 2026 12:01:00 GMT', 60],
    ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
    ['soon', null],
    ['-5', null],
    [undefined, null],
  ])('reads Retry-After %j as %j', (header, seconds) => expect(parseRetryAfter(header, now)).toBe(seconds))
})

describe('a signature', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' }

  it('is the one of the example in the standard', () => {
    const key = { signing: 'v1', key: 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' } as const
    expect(signatureHeader([key], message)).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
    expect(verificationKey(key)).toBe('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
  })

  it('is there for each key, the newest first', () => {
    const keys = [newSigningKey('v1'), newSigningKey('v1a')]
    expect(signatureHeader(keys, message)).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1a,[A-Za-z0-9+/]{86}==$/)
  })
})
