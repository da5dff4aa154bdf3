import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../test/support/free-port.ts'

const KEY = 'bench-key-that-is-long-enough-for-anybody'

/** A Node process that serves HTTP on a port of its own. */
export interface Server {
  readonly url: string
  readonly process: ChildProcess
  stop(): Promise<void>
}

/** Starts `args` with BERTH_PORT (and PORT) set to a free port, and waits until it answers at `path`. */
export async function startServer(args: readonly string[], env: Record<string, string>, path: string): Promise<Server> {
  const port = await freePort()
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env['PATH'] ?? '', BERTH_LOG_LEVEL: 'warn', ...env, BERTH_PORT: String(port), PORT: String(port) },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  for (let tries = 0; tries < 300 && child.exitCode === null; tries += 1) {
    if (
      await fetch(url + path).then(
        (answer) => answer.ok,
        () => false,
      )
    ) {
      return { url, process: child, stop: () => stop(child) }
    }
    await sleep(100)
  }
  throw new Error(`${args.join(' ')} did not start`)
}

/** A Berth built from this checkout, with the bench's key. */
export const startBerth = (env: Record<string, string>): Promise<Server> =>
  startServer(['dist/main.js'], { BERTH_API_KEY: KEY, ...env }, '/readyz')

export const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }

/** POST to terminal state, in milliseconds; throws unless it succeeded. */
export async function runJob(server: Server, job: object): Promise<{ id: string; ms: number }> {
  const before = performance.now()
  const answer = await fetch(`${server.url}/v1/jobs`, { method: 'POST', headers, body: JSON.stringify(job) })
  const { id } = (await answer.json()) as { id: string }
  for (;;) {
    const view = (await (await fetch(`${server.url}/v1/jobs/${id}?wait=30`, { headers })).json()) as { state: string; detail: string }
    if (view.state === 'succeeded') return { id, ms: performance.now() - before }
    if (view.state === 'failed' || view.state === 'canceled') throw new Error(`${id} ${view.state}: ${view.detail}`)
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}
