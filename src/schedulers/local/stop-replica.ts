import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SchedulerError } from '../scheduler.ts'
import { processesIn } from './cgroups.ts'
import { unlessMissing } from './errors.ts'
import { REPLICA_FILES } from './folders.ts'
import { hasVariable, isAlive, readProcesses, signalProcess } from './process-table.ts'
import type { ProcessFacts } from './process-table.ts'
import { LINKED_REPLICA_VARIABLE, linkedReplicaValue } from './render.ts'
import type { Isolation } from './local-place.ts'
import { readStart } from './replica-facts.ts'
import type { ReplicaFacts } from './replica-facts.ts'

export interface StopOptions {
  readonly isolation: Isolation
  readonly graceSeconds: number
  readonly signal: AbortSignal
}

/**
 * Ends a replica: SIGTERM to all of its processes, SIGKILL to what is there after the grace, until none is. Its
 * supervisor is left to write down the outcome. Does nothing if it has ended or never started.
 */
export async function stopReplica(replica: ReplicaFacts, options: StopOptions): Promise<void> {
  const deadline = Date.now() + options.graceSeconds * 1000
  let asked = false
  while (Date.now() < deadline && await isSupervised(replica)) {
    throwIfAborted(options.signal)
    if (!asked) asked = signalAll(await jobProcesses(replica, options.isolation), 'SIGTERM')
    await sleep(LOOK_MS)
  }
  await killReplica(replica, options)
}

/** SIGKILL to all of its processes, also those that outlived the supervisor, until none is there. */
export async function killReplica(replica: ReplicaFacts, { isolation, signal }: StopOptions): Promise<void> {
  const patience = Date.now() + SUPERVISOR_PATIENCE_MS
  for (;;) {
    const supervised = await isSupervised(replica)
    const processes = await replicaProcesses(replica, isolation)
    if (!supervised && processes.length === 0) return
    throwIfAborted(signal)
    signalAll(processes, 'SIGKILL')
    if (Date.now() > patience) signalAll(await supervisorSession(replica), 'SIGKILL')
    await sleep(LOOK_MS)
  }
}

const LOOK_MS = 15

/** With nothing left to wait for, a supervisor ends at once; one that does not is stuck, and its outcome lost. */
const SUPERVISOR_PATIENCE_MS = 10_000

/** Whether its supervisor still has something to do. */
async function isSupervised({ folder }: ReplicaFacts): Promise<boolean> {
  const start = await readStart(folder)
  return start !== null && start.alive
}

/** Those that the command is, or has started. In a sandbox: not bubblewrap itself, whose end would be theirs. */
async function jobProcesses(replica: ReplicaFacts, isolation: Isolation): Promise<ProcessFacts[]> {
  const all = readProcesses()
  if (isolation === 'links') return linkedProcesses(replica, all)
  const child = await launchedChild(replica, all)
  if (child === undefined) return []
  return childrenOf([child], all).flatMap((init) => descendants([init], all).filter((one) => one !== init))
}

/** All of them. What is in a sandbox dies with bubblewrap, so that the first kill takes them all at once. */
async function replicaProcesses(replica: ReplicaFacts, isolation: Isolation): Promise<ProcessFacts[]> {
  const all = readProcesses()
  if (isolation === 'links') return linkedProcesses(replica, all)
  const child = await launchedChild(replica, all)
  return child === undefined ? [] : descendants([child], all)
}

/**
 * Without a sandbox: descendants of the command, its session, its control groups, and whatever carries its mark in the
 * environment. A process that leaves the session and clears its environment too is not found without control groups.
 */
async function linkedProcesses(replica: ReplicaFacts, all: readonly ProcessFacts[]): Promise<ProcessFacts[]> {
  const { record } = replica
  const child = await launchedChild(replica, all)
  const grouped = new Set((await Promise.all(record.cgroups.map(processesIn))).flat())
  const mark = `${LINKED_REPLICA_VARIABLE}=${linkedReplicaValue(record.attemptId, record.role, record.index)}`
  const own = all.filter(({ pid, session }) => grouped.has(pid) || session === child?.pid || hasVariable(pid, mark))
  return descendants(child === undefined ? own : [child, ...own], all)
}

/** What the supervisor launched, if both are still there. */
async function launchedChild({ folder }: ReplicaFacts, all: readonly ProcessFacts[]): Promise<ProcessFacts | undefined> {
  const text = await readFile(join(folder, REPLICA_FILES.child), 'latin1').catch(unlessMissing(''))
  const start = await readStart(folder)
  if (start === null || start.identity === null || !isAlive(start.identity)) return undefined
  const supervisor = start.identity.pid
  return all.find(({ pid, parent }) => pid === Number(text) && parent === supervisor)
}

async function supervisorSession({ folder }: ReplicaFacts): Promise<ProcessFacts[]> {
  const start = await readStart(folder)
  if (start?.identity == null || !isAlive(start.identity)) return []
  const supervisor = start.identity.pid
  return readProcesses().filter(({ session }) => session === supervisor)
}

function descendants(roots: readonly ProcessFacts[], all: readonly ProcessFacts[]): ProcessFacts[] {
  const found = new Set(roots)
  for (let generation = [...roots]; generation.length > 0;) {
    generation = childrenOf(generation, all).filter((one) => !found.has(one))
    for (const one of generation) found.add(one)
  }
  return [...found]
}

function childrenOf(parents: readonly ProcessFacts[], all: readonly ProcessFacts[]): ProcessFacts[] {
  const pids = new Set(parents.map(({ pid }) => pid))
  return all.filter(({ parent }) => pids.has(parent))
}

/** Whether there was anybody to signal. */
function signalAll(processes: readonly ProcessFacts[], signal: NodeJS.Signals): boolean {
  for (const one of processes) signalProcess(one, signal)
  return processes.length > 0
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new SchedulerError('unavailable', 'stopped before all replicas had ended')
}
