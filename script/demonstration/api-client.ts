import { DemoFailure } from './demo-failure.ts'

export interface Job {
  readonly id: string
  readonly state: string
  readonly reason: string | null
  readonly detail: string | null
}

export interface JobEvent {
  readonly state: string
  readonly type: string
  readonly reason: string | null
  readonly detail: string | null
  readonly at: string
}

export interface LogLine {
  readonly role: string
  readonly replica: number
  readonly text?: string
}

export interface Scheduler {
  readonly name: string
  readonly capabilities: { readonly mountPaths: 'exact' | 'linked' }
}

/** The few calls of Berth's API that the demonstration makes. */
export interface ApiClient {
  submit(job: object): Promise<Job>
  preview(job: object): Promise<{ readonly native: unknown }>
  get(id: string): Promise<Job>
  schedulers(): Promise<readonly Scheduler[]>
  /** Registers a managed drive, unless it is there. */
  keepDrive(name: string): Promise<void>
  putObject(drive: string, path: string, text: string): Promise<void>
  getObject(drive: string, path: string): Promise<string>
  /** Every event from the first on; ends with the job. */
  events(id: string, signal: AbortSignal): AsyncIterable<JobEvent>
  /** Every line of output, as it is written; ends with the job. */
  logs(id: string, signal: AbortSignal): AsyncIterable<LogLine>
}

export function createApiClient(address: string, apiKey: string): ApiClient {
  const call = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`${address}${path}`, { ...init, headers: { authorization: `Bearer ${apiKey}`, ...init.headers } })
    if (response.ok) return response
    throw new DemoFailure(`${init.method ?? 'GET'} ${path}: ${await explain(response)}`, 'Berth says more in demo.log in the data folder.')
  }
  const post = async (path: string, body: object): Promise<unknown> => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return (await call(path, init)).json()
  }
  return {
    submit: async (job) => (await post('/v1/jobs', job)) as Job,
    preview: async (job) => (await post('/v1/jobs/preview', job)) as { native: unknown },
    get: async (id) => (await (await call(`/v1/jobs/${id}`)).json()) as Job,
    schedulers: async () => ((await (await call('/v1/schedulers')).json()) as { items: Scheduler[] }).items,
    async keepDrive(name) {
      const drives = (await (await call('/v1/drives?limit=200')).json()) as { items: { name: string }[] }
      if (!drives.items.some((drive) => drive.name === name)) await post('/v1/drives', { name, kind: 'managed' })
    },
    putObject: async (drive, path, text) => void (await call(`/v1/drives/${drive}/objects/${path}`, { method: 'PUT', body: text })),
    getObject: async (drive, path) => (await call(`/v1/drives/${drive}/objects/${path}`)).text(),
    async *events(id, signal) {
      const { body } = await call(`/v1/jobs/${id}/events`, { headers: { accept: 'text/event-stream' }, signal })
      for await (const line of linesOf(body)) if (line.startsWith('data:')) yield JSON.parse(line.slice(5)) as JobEvent
    },
    async *logs(id, signal) {
      const { body } = await call(`/v1/jobs/${id}/logs?follow=true`, { headers: { accept: 'application/x-ndjson' }, signal })
      for await (const line of linesOf(body)) if (line !== '') yield JSON.parse(line) as LogLine
    },
  }
}

/** The words of a problem (RFC 9457), with each reason. */
async function explain(response: Response): Promise<string> {
  const problem = (await response.json().catch(() => ({}))) as { detail?: string; errors?: { pointer: string; detail: string }[] }
  const reasons = (problem.errors ?? []).map(({ pointer, detail }) => `\n    ${pointer}: ${detail}`)
  return `${response.status} ${problem.detail ?? ''}${reasons.join('')}`
}

async function* linesOf(body: Response['body']): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body ?? []) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}
