import { createPublicKey, verify } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { delivery, deliveryPage, recovery, webhook, webhookPage, webhookWithKey } from '../../../src/routes/schemas/webhook.ts'
import { jobMessage } from '../../../src/routes/schemas/webhook-message.ts'
import { eventually } from '../../support/eventually.ts'
import { requirePostgres } from '../../support/requirements.ts'
import { WebhookReceiver, type Received } from '../../support/webhook-receiver.ts'
import { aJob, createTestApi, problemOf, shaped, type TestApi } from './test-api.ts'

describe.skipIf(requirePostgres().missing)('webhooks', () => {
  let api: TestApi
  let receiver: WebhookReceiver
  beforeAll(async () => {
    receiver = await WebhookReceiver.start()
    api = await createTestApi()
    api.berth.startWorker()
  })
  afterAll(async () => {
    await api.stop()
    await receiver.stop()
  })

  /** Registers one that has a path of the receiver to itself. */
  const register = async (name: string, more: object = {}) => {
    const answer = await api.call('POST', '/v1/webhooks', { body: { name, url: receiver.url(`/${name}`), events: ['*'], ...more } })
    expect(answer.statusCode, answer.body).toBe(201)
    return shaped(answer, webhookWithKey)
  }
  const submit = async (more: object = {}): Promise<string> => {
    const answer = await api.call('POST', '/v1/jobs', { body: aJob(more) })
    expect(answer.statusCode, answer.body).toBe(202)
    return (answer.json() as { id: string }).id
  }
  const messagesOf = (name: string, jobId: string): Received[] => receiver.at(`/${name}`).filter(({ body }) => body.data['jobId'] === jobId)
  const until = (name: string, jobId: string, type: string) =>
    eventually(
      async () => messagesOf(name, jobId),
      (messages) => messages.some(({ body }) => body.type === type),
    )
  const deliveries = async (name: string, query = '') =>
    shaped(await api.call('GET', `/v1/webhooks/${name}/deliveries${query}`), deliveryPage).items

  it('are registered, listed, changed with the right tag, and deleted, and show their key once', async () => {
    const made = await register('mine', { headers: { Authorization: 'Bearer do-not-show' }, labelSelector: { team: 'a' } })
    expect(made).toMatchObject({ key: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/), headerNames: ['authorization'], enabled: true })
    const read = await api.call('GET', '/v1/webhooks/mine')
    expect(shaped(read, webhook)).not.toHaveProperty('key')
    expect(read.body).not.toContain('do-not-show')
    expect(shaped(await api.call('GET', '/v1/webhooks'), webhookPage).items.map(({ name }) => name)).toContain('mine')
    expect(problemOf(await api.call('POST', '/v1/webhooks', { body: { name: 'mine', url: receiver.url(), events: ['*'] } })).code).toBe(
      'already_exists',
    )
    const body = { events: ['job.failed'], order: 'per_job' }
    expect(problemOf(await api.call('PATCH', '/v1/webhooks/mine', { body })).code).toBe('precondition_required')
    const headers = { 'if-match': String(read.headers['etag']) }
    const changed = shaped(await api.call('PATCH', '/v1/webhooks/mine', { body, headers }), webhook)
    expect(changed).toMatchObject({ events: ['job.failed'], order: 'per_job', version: 2, labelSelector: { team: 'a' } })
    expect(problemOf(await api.call('PATCH', '/v1/webhooks/mine', { body, headers })).code).toBe('precondition_failed')
    expect((await api.call('DELETE', '/v1/webhooks/mine')).statusCode).toBe(204)
    expect(problemOf(await api.call('GET', '/v1/webhooks/mine')).code).toBe('not_found')
  })

  it('are refused with every fault and what would be right', async () => {
    const body = {
      name: 'bad name',
      url: 'ftp://example.org',
      events: ['job.suceeded', 'job.*'],
      headers: { 'Webhook-Id': 'x' },
      order: 'fifo',
    }
    const { errors } = problemOf(await api.call('POST', '/v1/webhooks', { body }))
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual(['/events/0', '/headers', '/name', '/order', '/url'])
    expect(errors.find(({ pointer }) => pointer === '/events/0')?.detail).toContain('did you mean "job.succeeded"?')
    const forbidden = { name: 'inner', url: 'https://169.254.169.254/latest', events: ['*'] }
    expect(problemOf(await api.call('POST', '/v1/webhooks', { body: forbidden })).errors).toMatchObject([
      { pointer: '/url', code: 'forbidden_address' },
    ])
    expect(problemOf(await api.call('POST', '/v1/jobs', { body: aJob({ webhooks: ['nobody'] }) })).errors).toMatchObject([
      { pointer: '/webhooks/0', code: 'unknown_webhook' },
    ])
  })

  it('are told of each change of a job, in documented form, numbered and signed so that the stock library believes it', async () => {
    const { key } = await register('all', { headers: { 'X-Own': 'mine' } })
    const id = await submit({ labels: { team: 'vision' } })
    const messages = await until('all', id, 'job.succeeded')
    const stock = new Webhook(key)
    for (const { text, headers, body } of messages) {
      expect(stock.verify(text, headers as Record<string, string>)).toEqual(body)
      expect(() => stock.verify(`${text} `, headers as Record<string, string>)).toThrow('No matching signature found')
      expect(jobMessage.parse(body)).toEqual(body)
      expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-own': 'mine' })
      expect(Buffer.byteLength(text)).toBeLessThan(20_000)
    }
    const { items } = (await api.call('GET', `/v1/jobs/${id}/events`)).json() as { items: { sequence: number; type: string }[] }
    const told = messages.map(({ body }) => ({ sequence: body.data['sequence'], type: body.type }))
    expect(told.sort((a, b) => Number(a.sequence) - Number(b.sequence))).toEqual(items.map(({ sequence, type }) => ({ sequence, type })))
    expect(new Set(messages.map(({ headers }) => headers['webhook-id'])).size).toBe(messages.length)
    const listed = await deliveries('all', `?subject=${id}`)
    expect(listed).toHaveLength(messages.length)
    expect(listed[0]).toMatchObject({ state: 'delivered', attempts: [{ number: 1, status: 204, error: null }] })
  })

  it('may be signed with a key pair, whose public half is all that a receiver needs', async () => {
    const { key } = await register('pair', { signing: 'v1a', events: ['job.succeeded'] })
    const raw = Buffer.from(key.replace('whpk_', ''), 'base64')
    const publicKey = createPublicKey({
      key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), raw]),
      type: 'spki',
      format: 'der',
    })
    const id = await submit()
    const [message] = await until('pair', id, 'job.succeeded')
    const { headers, text } = message!
    const [version, signature = ''] = String(headers['webhook-signature']).split(',')
    const content = Buffer.from(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${text}`)
    expect(version).toBe('v1a')
    expect(verify(null, content, publicKey, Buffer.from(signature, 'base64'))).toBe(true)
  })

  it('take what their types, labels and scope say, and what a job sends them by name', async () => {
    await register('ends', { events: ['job.succeeded', 'job.failed'] })
    await register('vision', { labelSelector: { team: 'vision' }, events: ['job.succeeded'] })
    await register('named', { scope: 'named', events: ['job.succeeded'] })
    const mine = await submit({ labels: { team: 'vision', more: 'x' } })
    const others = await submit({ labels: { team: 'audio' }, webhooks: ['named', 'vision'] })
    for (const id of [mine, others]) await until('ends', id, 'job.succeeded')
    await until('named', others, 'job.succeeded')
    await until('vision', others, 'job.succeeded')
    await until('vision', mine, 'job.succeeded')
    expect(messagesOf('named', mine)).toEqual([])
    expect(messagesOf('ends', mine).map(({ body }) => body.type)).toEqual(['job.succeeded'])
  })

  it('are told what becomes of the objects of a drive', async () => {
    await register('lake', { events: ['drive.*'] })
    await api.call('POST', '/v1/drives', { body: { name: 'd', kind: 'managed' } })
    const put = {
      method: 'PUT',
      url: '/v1/drives/d/objects/a',
      payload: 'x',
      headers: { authorization: 'Bearer test-key-0123456789' },
    } as const
    await api.app.inject(put)
    await api.app.inject({ ...put, method: 'DELETE' })
    const messages = await eventually(
      async () => receiver.at('/lake'),
      (all) => all.length === 2,
    )
    expect(messages.map(({ body }) => [body.type, body.data['drive'], body.data['sequence'], body.data['path']].join(' ')).sort()).toEqual([
      'drive.object_created d 1 a',
      'drive.object_deleted d 2 a',
    ])
  })

  it('are told again until they take it, with the same id, and in order if they want that', async () => {
    await register('order', { order: 'per_job', events: ['job.queued', 'job.running', 'job.succeeded'] })
    let refusals = 1
    receiver.answer = ({ path }) => (path === '/order' && refusals-- > 0 ? 500 : 204)
    const id = await submit()
    const messages = await until('order', id, 'job.succeeded')
    expect(messages.map(({ body }) => body.type)).toEqual(['job.queued', 'job.queued', 'job.running', 'job.succeeded'])
    expect(messages[0]?.headers['webhook-id']).toBe(messages[1]?.headers['webhook-id'])
    expect((messages[1]?.at ?? 0) - (messages[0]?.at ?? 0)).toBeGreaterThan(3_900)
    const queued = (await deliveries('order', `?subject=${id}`)).find(({ type }) => type === 'job.queued')
    expect(queued?.attempts).toMatchObject([
      { number: 1, status: 500, error: 'answered 500' },
      { number: 2, status: 204, error: null },
    ])
  })

  it('are tried out, and told again what they were told, when somebody asks', async () => {
    await register('try', { events: ['job.succeeded'] })
    const tried = shaped(await api.call('POST', '/v1/webhooks/try/test'), delivery)
    expect(tried).toMatchObject({ type: 'webhook.test', state: 'delivered', attempts: [{ status: 204 }] })
    const again = await api.call('POST', `/v1/webhooks/try/deliveries/${tried.id}/redeliver`)
    expect(shaped(again, delivery)).toMatchObject({ state: 'pending' })
    await eventually(
      async () => receiver.at('/try'),
      (all) => all.length === 2,
    )
    const ids = receiver.at('/try').map(({ headers }) => headers['webhook-id'])
    expect(ids).toEqual([tried.id, tried.id])
    expect(problemOf(await api.call('POST', '/v1/webhooks/try/deliveries/msg_none/redeliver')).code).toBe('not_found')
  })

  it('that are asked for again while they are on their way are sent once more', async () => {
    await register('again', { events: ['job.succeeded'] })
    const held: (() => void)[] = []
    receiver.answer = ({ path }) =>
      path === '/again' && held.length === 0 ? (_, answer) => void held.push(() => answer.writeHead(204).end()) : 204
    const id = await submit()
    await until('again', id, 'job.succeeded')
    const [found] = await deliveries('again')
    const delivery = found?.id ?? ''
    await api.call('POST', `/v1/webhooks/again/deliveries/${delivery}/redeliver`)
    held.forEach((answer) => answer())
    const twice = await eventually(
      async () => messagesOf('again', id),
      (all) => all.length === 2,
    )
    expect(twice.map(({ headers }) => headers['webhook-id'])).toEqual([delivery, delivery])
    receiver.answer = () => 204
  })

  it('sign with both keys after a rotation, and with the new one alone where the old is known to others', async () => {
    const { key: first } = await register('turn', { events: ['job.succeeded'] })
    const second = shaped(await api.call('POST', '/v1/webhooks/turn/rotate'), webhookWithKey).key
    expect(second).not.toBe(first)
    const [both] = await until('turn', await submit(), 'job.succeeded')
    for (const key of [first, second]) new Webhook(key).verify(both!.text, both!.headers as Record<string, string>)
    const third = shaped(await api.call('POST', '/v1/webhooks/turn/rotate', { body: { overlapSeconds: 0 } }), webhookWithKey).key
    const [one] = await until('turn', await submit(), 'job.succeeded')
    new Webhook(third).verify(one!.text, one!.headers as Record<string, string>)
    for (const key of [first, second])
      expect(() => new Webhook(key).verify(one!.text, one!.headers as Record<string, string>)).toThrow('No matching signature')
  })

  it('that answer 410 are told nothing more, others hear of it, and what they missed can be sent', async () => {
    await register('watch', { events: ['webhook.*'] })
    await register('gone', { events: ['job.succeeded'] })
    receiver.answer = ({ path }) => (path === '/gone' ? 410 : 204)
    const since = new Date().toISOString()
    const first = await submit()
    await until('gone', first, 'job.succeeded')
    const [told] = await eventually(
      async () => receiver.at('/watch'),
      (all) => all.length > 0,
    )
    expect(told?.body).toMatchObject({ type: 'webhook.disabled', data: { webhook: 'gone', reason: 'gone' } })
    const read = await api.call('GET', '/v1/webhooks/gone')
    expect(shaped(read, webhook)).toMatchObject({ enabled: false, disabledReason: 'gone' })
    expect(problemOf(await api.call('POST', '/v1/webhooks/gone/test')).code).toBe('wrong_state')
    receiver.answer = () => 204
    const second = await submit()
    await until('all', second, 'job.succeeded')
    expect(messagesOf('gone', second)).toEqual([])
    const headers = { 'if-match': String(read.headers['etag']) }
    await api.call('PATCH', '/v1/webhooks/gone', { body: { enabled: true }, headers })
    const sent = shaped(await api.call('POST', `/v1/webhooks/gone/recover?since=${since}`), recovery)
    expect(sent).toEqual({ retried: 1, added: 1 })
    await until('gone', second, 'job.succeeded')
    await eventually(
      async () => messagesOf('gone', first),
      (all) => all.length === 2,
    )
    expect(shaped(await api.call('POST', `/v1/webhooks/gone/recover?since=${since}`), recovery)).toEqual({ retried: 0, added: 0 })
  })

  it('are not told again of what was so long ago that nobody knows whether they were', async () => {
    const id = await submit()
    await register('late', { events: ['job.queued'] })
    await api.berth.deps.pool.query(`UPDATE job_event SET at = now() - interval '31 days' WHERE job_id = $1`, [id])
    const since = new Date(Date.now() - 100 * 86_400_000).toISOString()
    await api.call('POST', `/v1/webhooks/late/recover?since=${since}`)
    expect((await deliveries('late', `?subject=${id}`)).length).toBe(0)
  })

  it('that redirect, hang up, or send an answer without end have failed or not by their status alone (case 37)', async () => {
    await register('odd', { events: ['job.queued', 'job.running', 'job.succeeded', 'job.starting'] })
    const hits: string[] = []
    receiver.answer = ({ path, body }) => {
      if (path === '/stolen') hits.push(path)
      if (path !== '/odd') return 204
      if (body.type === 'job.queued') return (_, answer) => void answer.writeHead(302, { location: receiver.url('/stolen') }).end()
      if (body.type === 'job.starting') return (_, answer) => void answer.socket?.destroy()
      if (body.type === 'job.running') return (_, answer) => void answer.writeHead(200).end(`\u001b[31m\u0000${'x'.repeat(1_000_000)}`)
      return 204
    }
    const id = await submit()
    await until('odd', id, 'job.succeeded')
    const tries = await eventually(
      async () => Object.fromEntries((await deliveries('odd', `?subject=${id}`)).map(({ type, attempts }) => [type, attempts[0]])),
      (found) => Object.keys(found).length === 4 && Object.values(found).every((attempt) => attempt !== undefined),
    )
    expect(tries['job.queued']).toMatchObject({ status: 302, error: 'answered 302: redirects are not followed' })
    expect(tries['job.starting']).toMatchObject({ status: null, error: expect.stringContaining('ECONNRESET') })
    expect(tries['job.running']).toMatchObject({ status: 200, error: null, answer: expect.stringMatching(/^\uFFFD\[31m\uFFFDx+$/) })
    expect(tries['job.running']?.answer).toHaveLength(1024)
    expect(hits).toEqual([])
    receiver.answer = () => 204
  })

  it('wait as long as a receiver asks for, and leave it alone meanwhile', async () => {
    await register('busy', { events: ['job.succeeded'] })
    receiver.answer = ({ path }) =>
      path === '/busy' ? (_, answer) => void answer.writeHead(429, { 'retry-after': '120' }).end('slow down') : 204
    const id = await submit()
    await until('busy', id, 'job.succeeded')
    const found = await eventually(
      async () => (await deliveries('busy'))[0],
      (one) => one?.attempts.length === 1,
    )
    expect(Date.parse(found?.nextAttemptAt ?? '') - Date.now()).toBeGreaterThan(110_000)
    const { health } = shaped(await api.call('GET', '/v1/webhooks/busy'), webhook)
    expect(health.failures).toBe(1)
    expect(Date.parse(health.pausedUntil ?? '') - Date.now()).toBeGreaterThan(110_000)
    receiver.answer = () => 204
  })

  it('that fail ten times in a row get one try a minute, and others do not notice', async () => {
    await register('dead', { events: ['job.*'] })
    await register('alive', { events: ['job.succeeded'] })
    receiver.answer = ({ path }) => (path === '/dead' ? 500 : 204)
    const ids = await Promise.all(Array.from({ length: 8 }, () => submit()))
    for (const id of ids) await until('alive', id, 'job.succeeded')
    const { health } = await eventually(
      async () => shaped(await api.call('GET', '/v1/webhooks/dead'), webhook),
      (one) => one.health.pausedUntil !== null,
    )
    expect(health.failures).toBeGreaterThanOrEqual(10)
    const { text } = await api.app.metrics.read()
    expect(text).toMatch(/berth_webhook_pending [1-9]/)
    expect(text).toMatch(/berth_webhook_endpoints\{state="failing"\} [1-9]/)
    expect(text).toMatch(/berth_webhook_late_seconds \d/)
    const tried = receiver.at('/dead').length
    await submit()
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    expect(receiver.at('/dead').length).toBe(tried)
    receiver.answer = () => 204
  })
})
