import { setTimeout as sleep } from 'node:timers/promises'
import { isTerminal } from '../../src/domain/job-state.ts'
import type { JobEvent, JobView } from '../../src/domain/job-view.ts'
import { MOVES } from '../../src/domain/job-state.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** What a client of Berth does, over HTTP. */
export class JobClient {
  readonly #address: () => string
  readonly #key: string

  /** @param address asked before each request, since a Berth that was restarted lives elsewhere. */
  constructor(address: () => string, key: string) {
    this.#address = address
    this.#key = key
  }

  /** Throws only when there was no answer. */
  async request(method: string, path: string, { headers = {}, body }: RequestOptions = {}): Promise<Answer> {
    const response = await this.open(path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text,
    }
  }

  /** The answer itself, to be read as it comes. */
  open(path: string, init: RequestInit = {}): Promise<Response> {
    return fetch(`${this.#address()}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${this.#key}`, ...(init.headers as Record<string, string>) },
    })
  }

  /** @throws Error with the problem when it is not accepted */
  async submit(job: unknown, headers: Readonly<Record<string, string>> = {}): Promise<JobView> {
    return this.#expect(202, await this.request('POST', '/v1/jobs', { body: job, headers }))
  }

  async get(id: string, wait = 0): Promise<JobView> {
    return this.#expect(200, await this.request('GET', `/v1/jobs/${id}?wait=${wait}`))
  }

  async cancel(id: string): Promise<JobView> {
    return this.#expect(202, await this.request('POST', `/v1/jobs/${id}/cancel`))
  }

  /** Waits for the end of a job, through any time in which the API is away. */
  ended(id: string, seconds = 60): Promise<JobView> {
    return this.until(id, ({ state }) => isTerminal(state), seconds)
  }

  /** Waits until the job is as wanted. @throws Error with the last that was seen of it */
  async until(id: string, wanted: (job: JobView) => boolean, seconds = 60): Promise<JobView> {
    let last: unknown
    for (const deadline = Date.now() + seconds * 1_000; Date.now() < deadline; await sleep(50)) {
      const job = await this.get(id).catch((error: unknown) => void (last = error))
      if (!job) continue
      if (wanted(job)) return job
      last = job
      if (isTerminal(job.state)) break
    }
    const seen = last instanceof Error ? String(last) : JSON.stringify({ ...(last as JobView), spec: undefined })
    throw new Error(`job ${id} did not come to what was wanted within ${seconds} s; last: ${seen}`)
  }

  /** All events; throws unless they are gapless from 1, each move legal, and the last the only final one. */
  async events(id: string): Promise<JobEvent[]> {
    const answer = await this.request('GET', `/v1/jobs/${id}/events?limit=200`)
    const { items } = this.#expect<{ items: JobEvent[] }>(200, answer)
    assertSound(items)
    return items
  }

  /** What it wrote, of all replicas. */
  async log(id: string, query = ''): Promise<Buffer> {
    const response = await this.open(`/v1/jobs/${id}/logs?${query}`)
    return Buffer.from(await response.arrayBuffer())
  }

  #expect<T>(status: number, answer: Answer): T {
    if (answer.status !== status) throw new Error(`${answer.status}, not ${status}: ${JSON.stringify(answer.body)}`)
    return answer.body as T
  }
}

function assertSound(events: readonly JobEvent[]): void {
  const story = events.map(({ sequence, type, reason }) => `${sequence} ${type} ${reason ?? ''}`).join('\n')
  let before: JobEvent | undefined
  for (const event of events) {
    if (event.sequence !== (before?.sequence ?? 0) + 1) throw new Error(`a gap before ${event.sequence}:\n${story}`)
    if (before && isTerminal(before.state)) throw new Error(`something after the end:\n${story}`)
    const isNextAttempt = event.state === 'queued' && (before === undefined || ['finishing', 'canceling'].includes(before.state))
    const isNote = event.type === 'job.progress' && event.state === before?.state
    const isMove = before !== undefined && (MOVES[event.state] as readonly string[]).includes(before.state)
    if (!isNextAttempt && !isNote && !isMove) throw new Error(`an illegal move to ${event.state} at ${event.sequence}:\n${story}`)
    before = event
  }
}
