import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { endProcess, spawnTied } from './tied-process.ts'

export interface TestRedis {
  readonly url: string
  /** Ends it (SIGKILL) and forgets everything; the address stays for `start`. */
  kill(): Promise<void>
  /** Starts it again, empty, on the same address. */
  start(): Promise<void>
  /** Ends it and removes its folder. */
  stop(): Promise<void>
}

/** A Redis of our own on a free port, without persistence. Needs `redis-server` in PATH: see `requireRedis`. */
export async function startTestRedis(): Promise<TestRedis> {
  const dir = await mkdtemp(join(tmpdir(), 'berth-redis-'))
  const port = await freePort()
  const args = [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir],
    ...['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction'],
  ]
  let child = spawnTied('redis-server', args)
  await untilListening(port)
  return {
    url: `redis://127.0.0.1:${port}`,
    kill: () => endProcess(child, 'SIGKILL'),
    async start() {
      child = spawnTied('redis-server', args)
      await untilListening(port)
    },
    async stop() {
      await endProcess(child, 'SIGKILL')
      await rm(dir, { recursive: true, force: true })
    },
  }
}

async function untilListening(port: number): Promise<void> {
  for (const deadline = Date.now() + 10_000; Date.now() < deadline; await sleep(10)) {
    if (await accepts(port)) return
  }
  throw new Error(`redis-server does not listen on port ${port} after 10 s`)
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
