import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DemoFailure } from './demo-failure.ts'

export interface BerthProcess {
  readonly address: string
  readonly apiKey: string
  /** Asks it to stop and waits until it and its PostgreSQL are gone. */
  stop(): Promise<void>
}

export interface BerthProcessOptions {
  readonly dataDir: string
  /** What BERTH_SCHEDULERS names. */
  readonly schedulers: object
}

/** What a line of Berth's log may hold. */
interface LogEntry {
  readonly address?: string
  readonly level?: number
  readonly msg?: string
  readonly err?: { readonly message: string }
}

const FATAL = 60
const START_MS = 30_000
const STOP_MS = 20_000

/** Starts `node dist/main.js` embedded on a free port; its log goes to demo.log in the data folder. */
export async function startBerthProcess({ dataDir, schedulers }: BerthProcessOptions): Promise<BerthProcess> {
  const file = join(dataDir, 'demo-schedulers.json')
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o711 })
    writeFileSync(file, JSON.stringify(schedulers, null, 2))
  } catch (error) {
    throw new DemoFailure(String(error), 'Set BERTH_DATA_DIR to a folder that you may write to.')
  }
  const { DATABASE_URL: _, REDIS_URL: __, BERTH_SERVE: ___, BERTH_API_KEY: ____, ...env } = process.env
  const child = spawn(process.execPath, ['dist/main.js'], {
    env: { ...env, BERTH_DATA_DIR: dataDir, BERTH_HOST: '127.0.0.1', BERTH_PORT: '0', BERTH_SCHEDULERS: file, BERTH_LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
    // Ctrl-C at the terminal is for us: we stop it in order.
    detached: true,
  })
  // However we end: it must not outlive us.
  process.once('exit', () => child.kill('SIGTERM'))
  const address = await untilListening(child, join(dataDir, 'demo.log'))
  return { address, apiKey: readFileSync(join(dataDir, 'api-key'), 'utf8').trim(), stop: () => stop(child) }
}

async function untilListening(child: ChildProcess, logPath: string): Promise<string> {
  const log = createWriteStream(logPath)
  const words: string[] = []
  child.stdout?.pipe(log)
  child.stderr?.on('data', (chunk: Buffer) => words.push(chunk.toString()))
  const address = new Promise<string | null>((resolve) => {
    const read = (line: string): void => {
      const { address, level = 0, err, msg } = line.startsWith('{') ? (JSON.parse(line) as LogEntry) : {}
      if (address !== undefined) resolve(address)
      if (level >= FATAL) words.push(`${msg}: ${err?.message}`)
    }
    if (child.stdout) createInterface({ input: child.stdout }).on('line', read)
    child.once('exit', () => resolve(null))
    setTimeout(() => resolve(null), START_MS).unref()
  })
  const found = await address
  if (found !== null) return found
  await stop(child)
  const advice = `Its log is ${logPath}; to start afresh, remove the folder that it is in.`
  throw new DemoFailure(`Berth did not start. ${words.join('').trim()}`, advice)
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const force = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await exit
  clearTimeout(force)
}
