import { open, readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from './errors.ts'
import { REPLICA_FILES, attemptFolder, tombstoneFile } from './folders.ts'
import type { ReplicaRecord } from './folders.ts'
import { isAlive, readBootId } from './process-table.ts'
import type { ProcessIdentity } from './process-table.ts'

/** All that is known of one replica, from its files and the process table. */
export interface ReplicaFacts {
  readonly record: ReplicaRecord
  readonly folder: string
  /** No replica of this attempt may start any more. */
  readonly forbidden: boolean
  /** null: no supervisor has taken the start. */
  readonly start: ReplicaStart | null
  readonly exit: ReplicaExit | null
}

export interface ReplicaStart {
  readonly at: Date
  /** null while, or if, it was not written. */
  readonly identity: ProcessIdentity | null
  /** The supervisor is there. */
  readonly alive: boolean
  /** The machine was not restarted since. */
  readonly sameBoot: boolean
}

export type ReplicaExit =
  | { readonly kind: 'never_started' }
  | {
    readonly kind: 'ended'
    readonly at: Date
    readonly code: number
    readonly outOfMemory: boolean
    readonly reached: Stage
    /** The last words on standard error of what could not be set up; null if the command was reached. */
    readonly complaint: string | null
  }

/** How far the start came: `command` was executed or could not be found. */
export type Stage = 'nothing' | 'limits' | 'sandbox' | 'command'

/** The replicas of an attempt that this installation has; none if there is no such attempt. */
export async function readAttempt(root: string, attemptId: string, installation: string): Promise<ReplicaFacts[]> {
  const folder = attemptFolder(root, attemptId)
  const names = await readdir(folder).catch(unlessMissing<string[]>([]))
  const forbidden = await exists(tombstoneFile(root, attemptId))
  const replicas = await Promise.all(names.map((name) => readReplica(join(folder, name), forbidden)))
  return replicas.filter((facts) => facts !== null).filter(({ record }) => record.installation === installation)
}

async function readReplica(folder: string, forbidden: boolean): Promise<ReplicaFacts | null> {
  const record = await readRecord(folder)
  if (record === null) return null
  const early = await readExit(folder)
  const start = await readStart(folder)
  // A supervisor writes the exit and then ends: seen gone, it may have written just before.
  const exit = early ?? (start !== null && !start.alive ? await readExit(folder) : null)
  return { record, folder, forbidden, start, exit }
}

/** A power cut can leave an empty file: then there is nothing to be known of the replica. */
async function readRecord(folder: string): Promise<ReplicaRecord | null> {
  const text = await readFile(join(folder, REPLICA_FILES.record), 'utf8').catch(unlessMissing(''))
  try {
    return JSON.parse(text) as ReplicaRecord
  } catch {
    return null
  }
}

/** Who took the start of a replica; null if nobody did. */
export async function readStart(folder: string): Promise<ReplicaStart | null> {
  const found = await readWithTime(join(folder, REPLICA_FILES.started))
  if (found === null) return null
  const [pid, startTicks, bootId] = found.text.endsWith('\n') ? found.text.trim().split(' ') : []
  if (pid === undefined || startTicks === undefined || bootId === undefined) {
    return { at: found.at, identity: null, alive: Date.now() - found.at.getTime() < WRITING_MS, sameBoot: true }
  }
  const identity = { pid: Number(pid), startTicks, bootId }
  return { at: found.at, identity, alive: isAlive(identity), sameBoot: bootId === readBootId() }
}

/** Between making the marker and writing into it there is no time to speak of, unless the disk was full. */
const WRITING_MS = 2000

async function readExit(folder: string): Promise<ReplicaExit | null> {
  const found = await readWithTime(join(folder, REPLICA_FILES.exit))
  if (found === null) return null
  if (found.text === 'canceled\n') return { kind: 'never_started' }
  // What is not whole, after a power cut, must not be taken for a 0.
  const [, code, memory] = /^(\d+) (oom|-)\n$/.exec(found.text) ?? []
  if (code === undefined) return null
  const reached = STAGES[(await readFile(join(folder, REPLICA_FILES.stage)).catch(unlessMissing(Buffer.of()))).length] ?? 'command'
  const complaint = reached === 'command' ? null : await lastWords(join(folder, 'stderr'))
  return { kind: 'ended', at: found.at, code: Number(code), outOfMemory: memory === 'oom', reached, complaint }
}

const STAGES: readonly Stage[] = ['nothing', 'limits', 'sandbox', 'command']

/** Content and time of one state of a file, even if it is replaced meanwhile. */
async function readWithTime(path: string): Promise<{ text: string; at: Date } | null> {
  const file = await open(path).catch(unlessMissing(null))
  if (file === null) return null
  try {
    return { text: await file.readFile('utf8'), at: (await file.stat()).mtime }
  } finally {
    await file.close()
  }
}

async function lastWords(path: string): Promise<string> {
  const text = (await readFile(path, 'utf8').catch(unlessMissing(''))).trimEnd()
  return text.slice(text.lastIndexOf('\n') + 1).slice(0, 300)
}

export const exists = (path: string): Promise<boolean> => stat(path).then(() => true).catch(unlessMissing(false))
