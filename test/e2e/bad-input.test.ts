import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Installation } from '../support/installation.ts'
import type { Answer } from '../support/job-client.ts'
import { PLACES, requirePlaces, shellJob, type Place } from '../support/places.ts'

const need = requirePlaces()

describe.skipIf(need.missing)('a job that cannot be', () => {
  let berth: Installation

  beforeAll(async () => {
    berth = await Installation.create({ dockerHost: need.host })
    await berth.start()
  })
  afterAll(async () => {
    try {
      await berth.untilClean()
    } finally {
      await berth.dispose()
    }
  })

  const send = (role: object, place: Place = 'docker'): Promise<Answer> =>
    berth.client.request('POST', '/v1/jobs', {
      body: { scheduler: place, roles: [{ command: ['true'], ...(place === 'docker' && { image: 'busybox' }), ...role }] },
    })
  const mount = (more: object): object => ({ mounts: [{ type: 'volume', source: 'foo2', path: '/data', ...more }] })
  const refused = (pointer: string, code?: string): object => ({
    status: 422,
    body: { errors: expect.arrayContaining([expect.objectContaining({ pointer, ...(code !== undefined && { code }) })]) },
  })

  it('for its image is not to be had fails, with the words of the daemon (case 23)', { timeout: 60_000 }, async () => {
    const job = shellJob(berth, 'docker', 'true') as { roles: object[] }
    const { id } = await berth.client.submit({ ...job, roles: job.roles.map((role) => ({ ...role, image: '127.0.0.1:9/no/such:image' })) })
    expect(await berth.client.ended(id)).toMatchObject({
      state: 'failed',
      reason: 'image_pull_failed',
      detail: expect.stringContaining('127.0.0.1:9'),
    })
    expect((await berth.client.events(id)).some(({ reason }) => reason === 'image_pull')).toBe(true)
    expect(await berth.starts(id)).toEqual([])
  })

  it.each(PLACES)('for its command is not there fails on %s, with a reason that names it', async (place) => {
    const { status, body } = await send({ command: ['no-such-command-at-all', 'x'] }, place)
    expect(status).toBe(202)
    const job = await berth.client.ended((body as { id: string }).id)
    expect(job).toMatchObject({ state: 'failed', reason: 'executor_error' })
    const words = `${job.detail} ${(await berth.client.log(job.id)).toString()}`
    expect(words).toMatch(/no-such-command-at-all|exit code 127/)
    await berth.client.events(job.id)
  })

  it.each([
    ['with an illegal name of a volume', mount({ source: '../etc' }), '/roles/0/mounts/0/source'],
    ['with a relative destination', mount({ path: 'data' }), '/roles/0/mounts/0/path'],
    ['with a destination that climbs', mount({ path: '/data/../etc' }), '/roles/0/mounts/0/path'],
    ['with a reserved destination', mount({ path: '/proc/sys' }), '/roles/0/mounts/0/path'],
    [
      'with two mounts at one place',
      { mounts: ['foo1', 'foo2'].map((source) => ({ type: 'volume', source, path: '/data' })) },
      '/roles/0/mounts/1',
    ],
    ['with a mount string that has a key twice', { mountStrings: ['type=volume,src=a2,src=b2,dst=/data'] }, '/roles/0/mountStrings/0'],
    ['with an environment of 1 MiB', { env: { BIG: 'x'.repeat(1_000_000) } }, '/roles/0/env'],
  ])('%s is refused, and the place is named', async (_, role, pointer) => {
    const answer = await send(role)
    expect(answer).toMatchObject(refused(pointer))
    expect(await send(role, 'local')).toMatchObject({ status: 422 })
  })

  it.each(PLACES)('for it binds what the operator has not allowed is refused on %s', async (place) => {
    for (const source of ['/etc', '/', `${berth.truth}-other`, '/var/run/docker.sock']) {
      const answer = await send({ mounts: [{ type: 'bind', source, path: '/data', access: 'ro' }] }, place)
      expect(answer, source).toMatchObject(refused('/roles/0/mounts/0'))
    }
  })

  it('with many faults is told all of them at once', async () => {
    const answer = await send({ replicas: 0, mounts: [{ type: 'volume', source: '-', path: 'x' }], unknownField: 1 })
    const pointers = (answer.body as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer)
    expect(pointers).toEqual(
      expect.arrayContaining(['/roles/0/replicas', '/roles/0/mounts/0/source', '/roles/0/mounts/0/path', '/roles/0/unknownField']),
    )
  })

  it('of 10 MB is refused as too large, also when it does not say how large it is', async () => {
    const body = JSON.stringify({ name: 'x'.repeat(10_000_000) })
    expect(await berth.client.request('POST', '/v1/jobs', { body })).toMatchObject({ status: 413, body: { code: 'body_too_large' } })
    const chunked = new ReadableStream({ start: (sink) => (sink.enqueue(Buffer.from(body)), sink.close()) })
    const init = { method: 'POST', body: chunked, duplex: 'half' as const, headers: { 'content-type': 'application/json' } }
    // The server may also cut the connection before all of it was sent.
    const status = await berth.client.open('/v1/jobs', init).then(
      (response) => response.status,
      () => 413,
    )
    expect(status).toBe(413)
    expect(await berth.client.request('GET', '/livez')).toMatchObject({ status: 200 })
  })

  it.each([
    ['text', 'text/plain', '{}', 415, 'unsupported_media_type'],
    ['a form', 'application/x-www-form-urlencoded', 'a=b', 415, 'unsupported_media_type'],
    ['broken JSON', 'application/json', '{"scheduler":', 400, 'malformed_request'],
    ['an array', 'application/json', '[]', 422, 'invalid_request'],
    ['nothing', 'application/json', '', 400, 'malformed_request'],
  ])('sent as %s is refused', async (_, type, body, status, code) => {
    expect(await berth.client.request('POST', '/v1/jobs', { body, headers: { 'content-type': type } })).toMatchObject({
      status,
      body: { code },
    })
  })

  it('leaves no row behind', async () => {
    const { rows } = await berth.database.pool.query('SELECT count(*) FILTER (WHERE ended_at IS NULL) AS open FROM job')
    expect(rows).toEqual([{ open: 0 }])
  })
})
