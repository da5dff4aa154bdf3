import { recordTry, type DueDelivery, type Try } from '../../db/statements/deliveries.ts'
import { crashPoint } from '../../crash-point.ts'
import { parseRetryAfter, retryDelaySeconds } from '../../domain/webhooks/retry-schedule.ts'
import { signatureHeader } from '../../domain/webhooks/signature.ts'
import { post, type PostAnswer } from '../../outbound/post.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { openRows, type KeyRow } from './webhook-keys.ts'

/** Of one try (Standard Webhooks 1.0 asks for 15 to 30 s). */
const TIMEOUT_MS = 15_000
const MOST_ANSWER_BYTES = 64 * 1024
/** Of an answer that is kept, in characters. */
const KEPT_ANSWER = 1024
const MOST_PAUSE_SECONDS = 3600

/**
 * Tries a delivery once, and writes down what came of it.
 *
 * @throws when it was aborted: nothing is written down then
 */
export async function sendDelivery(deps: ServiceDeps, delivery: DueDelivery, signal: AbortSignal): Promise<void> {
  const begun = performance.now()
  const answer = await send(deps, delivery, signal).catch((error: unknown) => {
    signal.throwIfAborted()
    return error instanceof Error ? error : new Error(String(error))
  })
  crashPoint('webhook.sent.after')
  const { disabled } = await recordTry(deps.pool, delivery, tryOf(delivery, answer, performance.now() - begun))
  if (!disabled) return
  deps.log.warn({ webhook: delivery.webhookId }, 'a webhook was given up')
  deps.signals.notify('webhooks')
}

async function send(
  deps: ServiceDeps,
  { id, webhookId, url: address, type, data, eventAt }: DueDelivery,
  signal: AbortSignal,
): Promise<PostAnswer> {
  const { headers, keys } = openRows(deps.keyRing, await keyRows(deps, webhookId))
  const body = JSON.stringify({ type, timestamp: eventAt.toISOString(), data })
  const timestamp = Math.floor(Date.now() / 1000)
  const url = new URL(address)
  const refusal = deps.webhookAccess.refusal(url)
  if (refusal !== null) throw new Error(`the address ${refusal}`)
  return post({
    url,
    body,
    headers: {
      ...headers,
      'content-type': 'application/json',
      'user-agent': 'Berth-Webhooks/1.0',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureHeader(keys, { id, timestamp, body }),
    },
    agents: deps.webhookAccess.agentsFor(url),
    timeoutMs: TIMEOUT_MS,
    maxAnswerBytes: MOST_ANSWER_BYTES,
    signal,
  })
}

async function keyRows(deps: ServiceDeps, webhookId: string): Promise<KeyRow[]> {
  const { rows } = await deps.pool.query<KeyRow>({
    name: 'webhook_keys',
    text: `SELECT webhook_id, number, key_id, sealed_key, sealed FROM webhook_key
WHERE webhook_id = $1 AND (expires_at IS NULL OR expires_at > now())`,
    values: [webhookId],
  })
  return rows
}

function tryOf({ tries }: DueDelivery, answer: PostAnswer | Error, latencyMs: number): Try {
  const latency = Math.round(latencyMs)
  if (answer instanceof Error) {
    const delaySeconds = retryDelaySeconds(tries, null, Math.random())
    return { status: null, latencyMs: latency, error: wordsOf(answer), answer: null, delaySeconds, pauseSeconds: 0, gone: false }
  }
  const { status, retryAfter, body } = answer
  const asked = parseRetryAfter(retryAfter, new Date())
  const isTaken = status >= 200 && status < 300
  const gone = status === 410
  return {
    status,
    latencyMs: latency,
    error: isTaken ? null : reasonOf(status),
    answer: plainText(body),
    delaySeconds: isTaken || gone ? null : retryDelaySeconds(tries, asked, Math.random()),
    pauseSeconds: status === 429 || status === 503 ? Math.min(asked ?? 0, MOST_PAUSE_SECONDS) : 0,
    gone,
  }
}

function reasonOf(status: number): string {
  if (status >= 300 && status < 400) return `answered ${status}: redirects are not followed`
  return status === 410 ? 'answered 410: it wants no more' : `answered ${status}`
}

/** Codes of Node and OpenSSL in front of their words. */
function wordsOf(error: Error): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? `${code}: ${error.message}` : error.message
}

/** Without what a terminal would obey, nor what Postgres cannot store. */
const plainText = (body: Buffer): string =>
  body
    .subarray(0, KEPT_ANSWER * 4)
    .toString('utf8')
    .replace(/[^\P{C}\n\t]/gu, '\u{FFFD}')
    .slice(0, KEPT_ANSWER)
