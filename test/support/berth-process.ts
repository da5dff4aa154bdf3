import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { builtBerth } from './built-berth.ts'
import { endProcess, spawnTied } from './tied-process.ts'

/** A real Berth, in a process of its own. It dies with the test at the latest. */
export interface BerthProcess {
  readonly pid: number
  /** Of its API, such as `http://127.0.0.1:40001`; empty for a worker. */
  readonly address: string
  /** Resolves when it has ended, by itself or not: the signal, or the exit code. */
  readonly ended: Promise<NodeJS.Signals | number>
  alive(): boolean
  /** Whether it stands still, by `pause` or a crash point. */
  standsStill(): boolean
  /** Lines of its log, parsed; at most the last 5000. */
  readonly lines: readonly LogEntry[]
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGSTOP, until `resume`. */
  pause(): void
  resume(): void
  /** SIGTERM, and after 20 s SIGKILL. Gives the exit code and how long it took. */
  stop(): Promise<{ readonly end: NodeJS.Signals | number; readonly ms: number }>
  /** What it holds of memory now. */
  rssBytes(): number
}

export interface LogEntry {
  readonly level: number
  readonly msg: string
  readonly [key: string]: unknown
}

const START_MS = 30_000
const STOP_MS = 20_000
const KEPT_LINES = 5_000
/** What it logs when it is ready, by what it serves. */
const READY = { api: 'Berth listens', worker: 'this worker takes on work' }

/**
 * Starts one and waits until it is ready.
 * @param env the whole of it, but for PATH. @param main path of the build's `main.js`
 * @throws Error with its last words when it ends before.
 */
export async function startBerthProcess(env: Readonly<Record<string, string>>, main?: string): Promise<BerthProcess> {
  const child = spawnTied(process.execPath, [main ?? (await builtBerth())], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'exit').then(([code, signal]) => (signal ?? code) as NodeJS.Signals | number)
  const lines: LogEntry[] = []
  const ready = new Promise<string>((resolve) => {
    const words = env['BERTH_SERVE'] === 'worker' ? READY.worker : READY.api
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface(stream).on('line', (line) => keep(line))
    }
    const keep = (line: string): void => {
      const entry = parse(line)
      if (lines.push(entry) > KEPT_LINES) lines.shift()
      if (entry.msg === words) resolve(typeof entry['address'] === 'string' ? entry['address'] : '')
      if (process.env['BERTH_TEST_LOG']) console.log(`${child.pid} ${line}`)
    }
  })
  const outcome = await Promise.race([ready, ended.then(() => null), sleep(START_MS, null, { ref: false })])
  if (outcome === null) {
    await endProcess(child, 'SIGKILL')
    throw new Error(`Berth did not start: ${lines.slice(-5).map((line) => JSON.stringify(line)).join('\n')}`)
  }
  const pid = child.pid ?? 0
  return {
    pid,
    address: outcome,
    ended,
    lines,
    alive: () => child.exitCode === null && child.signalCode === null,
    standsStill: () => stateOf(pid) === 'T',
    kill: () => endProcess(child, 'SIGKILL'),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      const asked = performance.now()
      child.kill('SIGTERM')
      const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
      const end = await ended
      clearTimeout(force)
      return { end, ms: performance.now() - asked }
    },
    rssBytes: () => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024,
  }
}

/** Stands in /proc after the name, which ends with the last bracket. */
function stateOf(pid: number): string | undefined {
  try {
    return / (\w) /.exec(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/, ''))?.[1]
  } catch {
    return undefined
  }
}

function parse(line: string): LogEntry {
  try {
    return JSON.parse(line) as LogEntry
  } catch {
    return { level: 0, msg: line }
  }
}
