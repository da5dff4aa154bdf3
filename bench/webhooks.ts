import { setTimeout as sleep } from 'node:timers/promises'
import { WebhookReceiver } from '../test/support/webhook-receiver.ts'
import { headers, type Server } from './berth.ts'

const JOB = { scheduler: 'local', roles: [{ command: ['true'] }] }
const JOBS_PER_SECOND = 50
const SECONDS = 20

/**
 * From the commit of a state to the receiver, alone and beside a receiver that never answers and one that always refuses.
 * Each job is canceled at once, so that its states cost Berth and not the machine.
 */
export async function benchWebhooks(berth: Server): Promise<void> {
  const receiver = await WebhookReceiver.start()
  receiver.answer = ({ path }) => (path === '/silent' ? () => undefined : path === '/broken' ? 500 : 204)
  try {
    await register(berth, receiver, 'good')
    const alone = await latencies(berth, receiver)
    for (const name of ['silent', 'broken']) await register(berth, receiver, name)
    const beside = await latencies(berth, receiver)
    report('alone', alone)
    report('beside a silent and a broken one', beside)
    console.log(`  p99 beside ÷ alone: ${(percentile(beside, 0.99) / percentile(alone, 0.99)).toFixed(2)} (goal <= 1.1)`)
  } finally {
    for (const name of ['good', 'silent', 'broken']) await fetch(`${berth.url}/v1/webhooks/${name}`, { method: 'DELETE', headers })
    await receiver.stop()
  }
}

async function register(berth: Server, receiver: WebhookReceiver, name: string): Promise<void> {
  const body = JSON.stringify({ name, url: receiver.url(`/${name}`), events: ['job.*'] })
  const { status } = await fetch(`${berth.url}/v1/webhooks`, { method: 'POST', headers, body })
  if (status !== 201) throw new Error(`the webhook ${name} was answered with ${status}`)
}

/** Milliseconds of each message to `good`. */
async function latencies(berth: Server, receiver: WebhookReceiver): Promise<number[]> {
  receiver.received.length = 0
  const took: number[] = []
  const { answer } = receiver
  receiver.answer = (message) => {
    if (message.path === '/good') took.push(Date.now() - Date.parse(message.body.timestamp))
    return answer(message)
  }
  const jobs: Promise<void>[] = []
  for (let count = 0; count < JOBS_PER_SECOND * SECONDS; count += 1) {
    jobs.push(submitAndCancel(berth))
    await sleep(1000 / JOBS_PER_SECOND)
  }
  await Promise.all(jobs)
  await sleep(3_000)
  receiver.answer = answer
  return took
}

async function submitAndCancel(berth: Server): Promise<void> {
  const accepted = await fetch(`${berth.url}/v1/jobs`, { method: 'POST', headers, body: JSON.stringify(JOB) })
  const { id } = (await accepted.json()) as { id: string }
  await fetch(`${berth.url}/v1/jobs/${id}/cancel`, { method: 'POST', headers })
}

const percentile = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * part)] ?? 0

const report = (when: string, took: readonly number[]): void =>
  console.log(
    `webhook ${when}, ${JOBS_PER_SECOND} jobs/s: ${took.length} messages, median ${percentile(took, 0.5)} ms, ` +
      `p99 ${percentile(took, 0.99)} ms (goal <= 1000)`,
  )
