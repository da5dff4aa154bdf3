import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { GuardedAgents } from './guarded-agents.ts'

export interface Post {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly agents: GuardedAgents
  /** Of all of it, from the look-up of the name to the end of the answer, in milliseconds. */
  readonly timeoutMs: number
  /** What is read of the answer; the connection is cut after it. */
  readonly maxAnswerBytes: number
  readonly signal: AbortSignal
}

export interface PostAnswer {
  readonly status: number
  readonly retryAfter: string | undefined
  /** The beginning of its body. */
  readonly body: Buffer
}

/**
 * Sends a body once: no redirect is followed, nothing is kept or repeated.
 *
 * @throws Error with the code of what went wrong, such as `ECONNREFUSED`, `ETIMEDOUT` or `BERTH_FORBIDDEN_ADDRESS`
 */
export async function post({ url, headers, body, agents, timeoutMs, maxAnswerBytes, signal }: Post): Promise<PostAnswer> {
  const late = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await send(url, { headers, body, agents, signal: AbortSignal.any([signal, late]) })
    // A receiver that has answered has taken it, however slowly the rest of its answer comes.
    const start = await beginningOf(answer, maxAnswerBytes).catch(() => Buffer.alloc(0))
    return { status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'], body: start }
  } catch (error) {
    throw late.aborted && !signal.aborted ? timedOut(url, timeoutMs) : error
  }
}

function send(url: URL, { headers, body, agents, signal }: Pick<Post, 'headers' | 'body' | 'agents' | 'signal'>): Promise<IncomingMessage> {
  const [request, agent] = url.protocol === 'https:' ? [requestHttps, agents.https] : [requestHttp, agents.http]
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, signal, headers: { ...headers, 'content-length': Buffer.byteLength(body) } })
    sent.once('response', resolve)
    sent.on('error', reject)
    sent.end(body)
  })
}

async function beginningOf(answer: IncomingMessage, most: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, most - size))
    size += chunk.byteLength
    if (size >= most) break
  }
  answer.destroy()
  return Buffer.concat(chunks)
}

const timedOut = ({ host }: URL, ms: number): Error =>
  Object.assign(new Error(`${host} did not answer within ${ms / 1000} s`), { code: 'ETIMEDOUT' })
