import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { Installation } from '../support/installation.ts'
import { PLACES, requirePlaces } from '../support/places.ts'
import { startTestRedis } from '../support/redis.ts'
import { requireRedis, requireS3Server } from '../support/requirements.ts'
import { startTestS3, type TestS3 } from '../support/s3-server.ts'
import { startTalkativeServer } from '../support/talkative-server.ts'
import { tracesOf } from '../support/traces-of.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'

const places = requirePlaces()
const need = requireS3Server()

describe.skipIf(places.missing || need.missing || requireRedis().missing)('a secret', () => {
  let berth: Installation
  let bucket: TestS3
  let redis: Awaited<ReturnType<typeof startTestRedis>>
  let talkative: Awaited<ReturnType<typeof startTalkativeServer>>
  let receiver: WebhookReceiver
  const word = (): string => `canary+${randomBytes(12).toString('base64')}`
  const secrets: Record<string, string> = { opaque: word(), 's3 key': word(), 's3 session': word(), sas: word(), header: word() }
  const accountKey = randomBytes(32).toString('base64')
  const commandLines = new Set<string>()
  const watching = new AbortController()
  /** Answers of the API, but for those that show a secret once. */
  const told: string[] = []

  beforeAll(async () => {
    ;[bucket, redis, talkative, receiver] = await Promise.all([
      startTestS3(need.program),
      startTestRedis(),
      startTalkativeServer(),
      WebhookReceiver.start(),
    ])
    const env = { BERTH_LOG_LEVEL: 'trace', BERTH_PUBLIC_URL: 'http://127.0.0.1:9' }
    berth = await Installation.create({ dockerHost: places.host, redisUrl: redis.url, env })
    Object.assign(secrets, { 'account key': accountKey, 'api key': berth.apiKey, 'bucket key': bucket.secretAccessKey })
    void watchCommandLines(watching.signal)
    await Promise.all([berth.start(), berth.start({ serve: 'worker' })])
  })
  afterAll(async () => {
    watching.abort()
    await berth.dispose()
    await Promise.all([bucket.stop(), redis.stop(), talkative.stop(), receiver.stop()])
  })

  async function watchCommandLines(stop: AbortSignal): Promise<void> {
    for (; !stop.aborted; await sleep(5)) {
      for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
        try {
          commandLines.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' '))
        } catch {
          // It has ended.
        }
      }
    }
  }
  async function tell(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await berth.client.request(method, path, body && { body })
    told.push(JSON.stringify([answer.status, answer.body, [...answer.headers]]))
    return answer.body
  }
  async function storeSecrets(): Promise<void> {
    const { endpoint } = talkative
    const own = (secret: string) => ({ access: 'rw', credentials: { method: 'secret', secret } })
    const s3 = { type: 's3_keys', accessKeyId: 'somebody', secretAccessKey: secrets['s3 key'], sessionToken: secrets['s3 session'] }
    const values = {
      word: { type: 'opaque', value: secrets['opaque'] },
      good: { type: 's3_keys', accessKeyId: bucket.accessKeyId, secretAccessKey: bucket.secretAccessKey },
      bad: s3,
      sas: { type: 'azure_sas', token: `sv=2024-11-04&sp=rwdl&sig=${encodeURIComponent(secrets['sas'] ?? '')}` },
      key: { type: 'azure_key', accountKey },
    }
    for (const [name, value] of Object.entries(values)) await tell('POST', '/v1/secrets', { name, value })
    await tell('POST', '/v1/secrets', { name: 'nonsense', value: { type: 'opaque', value: secrets['opaque'], more: secrets['s3 key'] } })
    const azure = { kind: 'azure_blob', account: 'account', container: 'bucket', endpoint }
    const drives = [
      { name: 'managed', kind: 'managed' },
      { name: 'good', kind: 's3', bucket: 'bucket', endpoint: bucket.endpoint, ...own('good') },
      { name: 'wrong', kind: 's3', bucket: 'bucket', endpoint: bucket.endpoint, ...own('bad') },
      { name: 'bad', kind: 's3', bucket: 'bucket', endpoint, ...own('bad') },
      { name: 'sas', ...azure, ...own('sas') },
      { name: 'key', ...azure, ...own('key') },
      { name: 'nobody', ...azure, endpoint: 'http://127.0.0.1:9', ...own('sas') },
    ]
    for (const drive of drives) await tell('POST', '/v1/drives', drive)
    const hook = { name: 'all', url: receiver.url('/'), events: ['*'], headers: { authorization: `Bearer ${secrets['header']}` } }
    const { body } = await berth.client.request('POST', '/v1/webhooks', { body: hook })
    const [, key] = /whsec_([\w+/=]+)/.exec(JSON.stringify(body)) ?? []
    secrets['webhook key'] = key ?? expect.fail(`no key in ${JSON.stringify(body)}`)
  }
  async function everyTable(): Promise<string> {
    const { pool } = berth.database
    const { rows } = await pool.query<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`,
    )
    const tables = rows.map(async ({ name }) => {
      const found = await pool.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`)
      return found.rows.map(({ row }) => `${name} ${row}`)
    })
    return (await Promise.all(tables)).flat().join('\n')
  }
  async function everyKeyOfRedis(): Promise<string> {
    const client = new Redis(redis.url)
    const entries = (await client.keys('*')).map(async (key) => {
      const read = { hash: 'hgetall', list: 'lrange', set: 'smembers', zset: 'zrange', stream: 'xrange', string: 'get' }[
        await client.type(key)
      ]
      const range = { lrange: ['0', '-1'], zrange: ['0', '-1'], xrange: ['-', '+'] }[read ?? ''] ?? []
      return `${key} ${JSON.stringify(read === undefined ? null : await client.call(read, key, ...range))}`
    })
    const text = (await Promise.all(entries)).join('\n')
    client.disconnect()
    return text
  }
  const jobOf = (place: string, drive: string, more: object): object => ({
    scheduler: place,
    retries: { max: 0 },
    roles: [
      {
        name: 'main',
        ...(place === 'docker' && { image: 'busybox' }),
        command: ['sh', '-c', 'printf %s "$BERTH_DRIVES" > /truth/$BERTH_JOB_ID.drives; ls / > /dev/null; sleep 1'],
        mounts: [
          { type: 'bind', source: berth.truth, path: '/truth', access: 'rw' },
          { type: 'drive', drive, path: '/drive', ...more },
        ],
      },
    ],
  })

  it('is in no table but sealed; in no queue, answer, event, metric, log or command line (case 42)', { timeout: 120_000 }, async () => {
    await storeSecrets()
    const ids: string[] = []
    for (const drive of ['good', 'wrong', 'bad', 'sas', 'key', 'nobody']) {
      await tell('POST', `/v1/drives/${drive}/check?wait=5`)
      for (const [method, path] of [
        ['GET', 'objects/x'],
        ['GET', 'objects/'],
        ['PUT', 'objects/x'],
        ['POST', 'recount'],
      ] as const) {
        await tell(method, `/v1/drives/${drive}/${path}`, method === 'GET' ? undefined : { any: 'thing' })
      }
      for (const place of PLACES) {
        const job = (await tell('POST', '/v1/jobs', jobOf(place, drive, { mode: 'copy_in' }))) as { id: string }
        ids.push(job.id)
      }
    }
    for (const place of PLACES) {
      await tell('POST', '/v1/jobs/preview', jobOf(place, 'managed', { mode: 'api' }))
      const { id } = (await tell('POST', '/v1/jobs', jobOf(place, 'managed', { mode: 'api' }))) as { id: string }
      ids.push(id)
      const drives = await eventually(
        () => readFile(join(berth.truth, `${id}.drives`), 'utf8').catch(() => ''),
        (text) => text !== '',
      )
      const [, token] = /berth_job\.att_\w+\.\d+\.([\w-]{43})/.exec(drives) ?? []
      secrets[`token of a job on ${place}`] = token ?? expect.fail(`no token in ${drives}`)
    }
    await sleep(8_000)
    for (const id of ids) {
      for (const path of ['', '/events', '/logs']) await tell('GET', `/v1/jobs/${id}${path}`)
      const live = (await tell('POST', `/v1/jobs/${id}/cancel`)) as { state?: string }
      if (live.state !== undefined) await berth.client.ended(id)
    }
    for (const path of ['secrets', 'drives', 'webhooks', 'webhooks/all/deliveries', 'jobs', 'schedulers']) await tell('GET', `/v1/${path}`)
    told.push(await (await berth.client.open('/metrics')).text())
    await eventually(
      () => receiver.received.length,
      (count) => count > ids.length,
    )

    const texts = {
      tables: await everyTable(),
      queue: await everyKeyOfRedis(),
      answers: told.join('\n'),
      messages: receiver.received.map(({ text }) => text).join('\n'),
      logs: berth.processes.map(({ lines }) => lines.map((line) => JSON.stringify(line)).join('\n')).join('\n'),
      'command lines': [...commandLines].join('\n'),
    }
    for (const [name, text] of Object.entries(texts)) {
      expect(text.length, name).toBeGreaterThan(100)
      const found = text.split('\n').flatMap((line) => tracesOf(secrets, line).map((secret) => `${secret}: ${line.slice(0, 600)}`))
      expect(found, name).toEqual([])
    }
    expect(Object.keys(secrets)).toHaveLength(11)
  })
})
