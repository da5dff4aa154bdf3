import { describe, expect, test } from 'vitest'
import { Engine, EngineError } from '../../../../src/schedulers/docker/engine.ts'
import { assertClaimed, toSchedulerError } from '../../../../src/schedulers/docker/errors.ts'
import { dockerScheduler } from '../../../support/docker.ts'
import { SchedulerError } from '../../../../src/schedulers/scheduler.ts'

const answer = (statusCode: number): EngineError => new EngineError('no such image: 404 conflict', { statusCode, code: null })

describe('an error of the daemon', () => {
  test.each([
    [400, 'rejected'],
    [403, 'rejected'],
    [404, 'not_found'],
    [409, 'conflict'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ])('with status %i is %s, whatever its words', (statusCode, kind) => {
    expect(toSchedulerError(answer(statusCode), 'unix:///x')).toMatchObject({ name: 'SchedulerError', kind })
  })

  test('that is one of ours already stays as it is', () => {
    const error = new SchedulerError('rejected', 'no', { failure: 'mount_failed' })
    expect(toSchedulerError(error, 'unix:///x')).toBe(error)
  })

  test('without an answer is unavailable, and says what to do', () => {
    const error = toSchedulerError(new EngineError('connect ENOENT', { statusCode: null, code: 'ENOENT' }), 'unix:///x')
    expect(error).toMatchObject({ kind: 'unavailable', message: expect.stringMatching(/unix:\/\/\/x.*start Docker/) as string })
  })

  test('that nobody foresaw is unavailable', () => {
    expect(toSchedulerError(new TypeError('oops'), 'unix:///x')).toMatchObject({ kind: 'unavailable' })
  })

  test('is what a lost claim looks like, before the next call is made', () => {
    expect(() => assertClaimed(AbortSignal.abort())).toThrow(SchedulerError)
    expect(() => assertClaimed(new AbortController().signal)).not.toThrow()
  })
})

describe('a daemon that is not there', () => {
  const host = 'unix:///tmp/no/such/docker.sock'
  const scheduler = dockerScheduler({ installation: 'i', host })
  const handle = { attemptId: 'att_x', graceSeconds: 1 }
  const { signal } = new AbortController()
  const unavailable = { kind: 'unavailable', message: expect.stringMatching(/start Docker/) as string }

  test('fails every method as unavailable', async () => {
    const logs = scheduler.logs(handle, { role: 'r', index: 0, from: { stdout: 0, stderr: 0 }, follow: true }, signal)
    await expect(scheduler.health(signal)).rejects.toMatchObject(unavailable)
    await expect(scheduler.cancel(handle, signal)).rejects.toMatchObject(unavailable)
    await expect(scheduler.remove(handle, signal)).rejects.toMatchObject(unavailable)
    await expect(logs[Symbol.asyncIterator]().next()).rejects.toMatchObject(unavailable)
    await expect(scheduler.observe(signal)[Symbol.asyncIterator]().next()).rejects.toMatchObject(unavailable)
  })
})

describe('the host of a daemon', () => {
  test.each(['tcp://10.0.0.1:2375', 'tcp://example.com:2375', 'ssh://box', 'http://127.0.0.1', 'unix://'])('%s is refused', (host) => {
    expect(() => new Engine(host)).toThrow(/Docker host/)
  })

  test.each(['unix:///var/run/docker.sock', 'tcp://127.0.0.1:2375', 'tcp://localhost:2375', 'tcp://[::1]:2375'])('%s is taken', (host) => {
    expect(new Engine(host).host).toBe(host)
  })
})
