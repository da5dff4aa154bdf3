import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { Installation } from '../support/installation.ts'
import { requirePostgres, requireProgram, requireStandardWebhooks } from '../support/requirements.ts'
import { WebhookReceiver } from '../support/webhook-receiver.ts'
import { POINTS_OF_WEBHOOKS } from './crash-cases.ts'

const needs = [requirePostgres(), requireProgram('bwrap')]
const stock = requireStandardWebhooks()

describe.skipIf(needs.some(({ missing }) => missing))('messages to webhooks', () => {
  let berth: Installation
  let receiver: WebhookReceiver
  beforeAll(async () => {
    receiver = await WebhookReceiver.start()
    berth = await Installation.create({})
    await berth.start({ serve: 'api' })
  })
  afterAll(async () => {
    await berth.dispose()
    await receiver.stop()
  })

  const register = async (name: string, more: object = {}): Promise<string> => {
    const body = { name, url: receiver.url(`/${name}`), events: ['job.succeeded'], scope: 'named', ...more }
    const answer = await berth.client.request('POST', '/v1/webhooks', { body })
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
    return (answer.body as { key: string }).key
  }
  const submit = (webhook: string) => berth.client.submit({ scheduler: 'local', webhooks: [webhook], roles: [{ command: ['true'] }] })

  it.each(POINTS_OF_WEBHOOKS)(
    'that were sent when their worker was killed at %s are sent again, with the same id (case 38)',
    async (point) => {
      await register('killed')
      const worker = await berth.start({ serve: 'worker', crashPoint: point })
      const { id } = await submit('killed')
      await eventually(
        async () => worker.alive(),
        (alive) => !alive,
      )
      expect(receiver.at('/killed')).toHaveLength(1)
      await berth.start({ serve: 'worker' })
      const [first, second] = await eventually(
        async () => receiver.at('/killed'),
        (all) => all.length === 2,
        60,
      )
      expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
      expect(second?.text).toBe(first?.text)
      expect(first?.body.data['jobId']).toBe(id)
    },
  )

  it.skipIf(stock.missing)('are believed by the stock library of Python, and not if a letter is another', async () => {
    const key = await register('python')
    await submit('python')
    const [message] = await eventually(
      async () => receiver.at('/python'),
      (all) => all.length > 0,
      60,
    )
    const { text, headers } = message!
    const script = `import json, sys; from standardwebhooks.webhooks import Webhook
key, body, headers = json.load(sys.stdin)
print(json.dumps(Webhook(key).verify(body, headers)))`
    const verify = async (body: string): Promise<unknown> => {
      const running = promisify(execFile)(stock.python, ['-c', script])
      running.child.stdin?.end(JSON.stringify([key, body, headers]))
      return JSON.parse((await running).stdout)
    }
    expect(await verify(text)).toEqual(message?.body)
    await expect(verify(text.replace('succeeded', 'sUcceeded'))).rejects.toThrow('No matching signature')
  })
})
