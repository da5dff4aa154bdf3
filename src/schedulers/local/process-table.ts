import { readFileSync, readdirSync } from 'node:fs'

/** One process of this machine, as /proc tells it. Zombies count as gone. */
export interface ProcessFacts {
  readonly pid: number
  readonly parent: number
  readonly session: number
  /** Clock ticks since the boot of the machine; with pid and boot id, it names a process for ever. */
  readonly startTicks: string
}

/** A process that stays the same one: a pid alone may belong to another by now. */
export interface ProcessIdentity {
  readonly pid: number
  readonly startTicks: string
  readonly bootId: string
}

/** null if there is no such process. */
export function readProcess(pid: number): ProcessFacts | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return null
  }
  // The name in parentheses may itself hold blanks and parentheses.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent, , session] = fields
  if (state === 'Z' || state === 'X') return null
  return { pid, parent: Number(parent), session: Number(session), startTicks: fields[19] ?? '' }
}

export const readProcesses = (): ProcessFacts[] =>
  readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map((name) => readProcess(Number(name))).filter((facts) => facts !== null)

export const readBootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()

export const isAlive = (identity: ProcessIdentity): boolean =>
  identity.bootId === readBootId() && readProcess(identity.pid)?.startTicks === identity.startTicks

/** Whether its environment holds this variable; false where that may not be looked at. */
export function hasVariable(pid: number, variable: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(variable)
  } catch {
    return false
  }
}

/** Signals a process only if it is still the one that was seen. */
export function signalProcess(seen: ProcessFacts, signal: NodeJS.Signals): void {
  if (readProcess(seen.pid)?.startTicks !== seen.startTicks) return
  try {
    process.kill(seen.pid, signal)
  } catch {
    // It ended in between.
  }
}
