import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { Agent, get, type ClientRequest, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { headers, type Server } from './berth.ts'

const STREAMS = 1_000
/** What is left after each further round is a leak; after the first it may be garbage, and room that was made for it. */
const ROUNDS = 3
const ROUND = 10_000
const AT_ONCE = 50
const MIB = 1024 * 1024

/** What streams of events cost in memory while they are open, and what is left of those that came and went. */
export async function benchStreams(berth: Server): Promise<void> {
  const job = { scheduler: 'local', graceSeconds: 0, roles: [{ command: ['sleep', '600'] }] }
  const answer = await fetch(`${berth.url}/v1/jobs`, { method: 'POST', headers, body: JSON.stringify(job) })
  const { id } = (await answer.json()) as { id: string }
  const agent = new Agent({ keepAlive: false, maxSockets: Infinity })
  const open = async (): Promise<ClientRequest> => {
    const request = get(`${berth.url}/v1/jobs/${id}/events`, { agent, headers: { ...headers, accept: 'text/event-stream' } })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    await once(response, 'data')
    request.on('error', () => undefined)
    return request
  }
  await cycle(open, AT_ONCE)
  const before = factsOf(berth)
  const streams: ClientRequest[] = []
  while (streams.length < STREAMS) streams.push(...(await Promise.all(Array.from({ length: AT_ONCE }, open))))
  await sleep(1_000)
  const during = factsOf(berth)
  for (const stream of streams) stream.destroy()
  console.log(`${STREAMS} streams: ${mib(during.rss - before.rss)} MiB more, ${mib(during.rss)} in all (goal <= 200)`)
  let last = during
  for (let round = 1; round <= ROUNDS; round += 1) {
    await cycle(open, ROUND)
    await sleep(2_000)
    const now = factsOf(berth)
    const change = `${now.files - before.files} files more than before, ${mib(now.rss - last.rss)} MiB more than at the last look`
    console.log(`  after ${round * ROUND} that came and went: ${change}`)
    last = now
  }
  await fetch(`${berth.url}/v1/jobs/${id}/cancel`, { method: 'POST', headers })
}

async function cycle(open: () => Promise<ClientRequest>, count: number): Promise<void> {
  for (let left = 0; left < count; left += AT_ONCE) {
    for (const stream of await Promise.all(Array.from({ length: AT_ONCE }, open))) stream.destroy()
  }
}

function factsOf({ process: { pid } }: Server): { rss: number; files: number } {
  const rss = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
  return { rss, files: readdirSync(`/proc/${pid}/fd`).length }
}

const mib = (bytes: number): string => (bytes / MIB).toFixed(0)
