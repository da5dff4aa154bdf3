import type { ApiClient, Job, JobEvent } from './api-client.ts'
import { DemoFailure } from './demo-failure.ts'
import type { JobBody } from './jobs.ts'
import { bold, cyan, dim, green, red, say, yellow } from './terminal.ts'

const JOB_MS = 40_000

/**
 * Submits a job and prints its states and output as they come.
 * @throws {DemoFailure} unless it succeeds within 40 s
 */
export async function watchJob(api: ApiClient, body: JobBody): Promise<void> {
  say()
  const { id } = await api.submit(body)
  say(`${bold(`${body.name} on ${body.scheduler}`)}  ${dim(id)}`)
  const signal = AbortSignal.timeout(JOB_MS)
  // A stream that breaks off says less about the job than the job itself.
  await Promise.all([printEvents(api, id, signal), printLogs(api, id, signal)]).catch(() => undefined)
  const job = await api.get(id)
  if (job.state !== 'succeeded') throw failure(job)
}

async function printEvents(api: ApiClient, id: string, signal: AbortSignal): Promise<void> {
  let start: number | null = null
  for await (const event of api.events(id, signal)) {
    start ??= Date.parse(event.at)
    const seconds = ((Date.parse(event.at) - start) / 1000).toFixed(2).padStart(6)
    say(`  ${dim(`${seconds} s`)}  ${describe(event)}`)
  }
}

function describe({ type, state, reason, detail }: JobEvent): string {
  const words = [reason, detail].filter((word) => word !== null).join(': ')
  const paint = { succeeded: green, failed: red, canceled: red, running: cyan }[state] ?? yellow
  return `${type === `job.${state}` ? paint(state) : dim(type)}${words === '' ? '' : dim(`  ${words}`)}`
}

async function printLogs(api: ApiClient, id: string, signal: AbortSignal): Promise<void> {
  for await (const { role, replica, text } of api.logs(id, signal)) say(`            ${dim(`${role}/${replica} │`)} ${text ?? ''}`)
}

function failure({ id, state, reason, detail }: Job): DemoFailure {
  const advice = 'Its output stands above; the log of Berth is demo.log in the data folder.'
  return new DemoFailure(`${id} is ${state} (${reason ?? 'no reason'}): ${detail ?? ''}`, advice)
}
