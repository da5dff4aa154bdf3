import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'

const SETPRIV = '/usr/bin/setpriv'

/** Starts a process for tests that the kernel kills when this one dies, so that an aborted test leaves none behind. */
export function spawnTied(program: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  const command = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL', '--', program, ...args] : [program, ...args]
  const [first = program, ...rest] = command
  return spawn(first, rest, { stdio: 'ignore', detached: true, ...options })
}

/** Sends the signal and waits for the end. Safe for a process that has ended. */
export async function endProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exit = once(child, 'exit')
  child.kill(signal)
  await exit
}
