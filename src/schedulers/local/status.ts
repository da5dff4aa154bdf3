import { constants } from 'node:os'
import type { ReplicaObservation } from '../../domain/attempt.ts'
import type { FailureReason } from '../../domain/failure-reason.ts'
import type { ReplicaExit, ReplicaFacts, Stage } from './replica-facts.ts'

/**
 * What is observed of a replica, from its facts. Pure.
 *
 * | facts                                        | phase     |
 * |----------------------------------------------|-----------|
 * | never started, and must not any more         | (left out)|
 * | nobody took the start                        | pending   |
 * | ended with 0, the command was reached        | succeeded |
 * | ended otherwise                              | failed    |
 * | started, its supervisor lives                | running   |
 * | started, its supervisor is gone, left no exit| lost      |
 */
export function observeReplica({ record, start, exit, forbidden }: ReplicaFacts, node: string): ReplicaObservation | null {
  const { role, index } = record
  if (exit?.kind === 'never_started' || (start === null && forbidden)) return null
  const base = { ...NOTHING_YET, role, index, node }
  if (start === null) return { ...base, phase: 'pending' }
  const { identity, at, alive, sameBoot } = start
  const nativeId = identity && `${identity.pid}-${identity.startTicks}-${identity.bootId}`
  const started = { ...base, startedAt: at.toISOString(), nativeId }
  if (exit !== null) return { ...started, ...ending(exit) }
  if (alive) return { ...started, phase: 'running' }
  const nativeReason = sameBoot ? 'its supervisor is gone and left no outcome' : 'the machine was restarted'
  return { ...started, phase: 'lost', nativeReason, failure: 'lost' }
}

const NOTHING_YET = { exitCode: null, startedAt: null, endedAt: null, nativeId: null, nativeReason: null, failure: null }

type Ended = Extract<ReplicaExit, { kind: 'ended' }>
type Ending = Pick<ReplicaObservation, 'phase' | 'exitCode' | 'endedAt' | 'nativeReason' | 'failure'>

function ending({ code, at, outOfMemory, reached, complaint }: Ended): Ending {
  const endedAt = at.toISOString()
  if (code === 0 && reached === 'command') return { phase: 'succeeded', exitCode: 0, endedAt, nativeReason: null, failure: null }
  const killed = code > SIGNALED
  if (reached !== 'command' && !killed) {
    const nativeReason = complaint === null || complaint === '' ? UNREACHED[reached].words : complaint
    return { phase: 'failed', exitCode: null, endedAt, nativeReason, failure: UNREACHED[reached].failure }
  }
  const failure = outOfMemory ? 'out_of_memory' : 'executor_error'
  return { phase: 'failed', exitCode: code, endedAt, nativeReason: outOfMemory ? 'went over its memory limit' : meaning(code), failure }
}

/** What it means when setting up ended before the command was reached. */
const UNREACHED: Readonly<Record<Exclude<Stage, 'command'>, { readonly failure: FailureReason; readonly words: string }>> = {
  nothing: { failure: 'system_error', words: 'its limits could not be set' },
  limits: { failure: 'mount_failed', words: 'its file system could not be made' },
  sandbox: { failure: 'rejected', words: 'its user or working directory could not be taken' },
}

/** Shells and bubblewrap give 128 and the number of the signal. */
const SIGNALED = 128

function meaning(code: number): string | null {
  if (code === 127) return 'the command was not found'
  if (code === 126) return 'the command could not be executed'
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - SIGNALED)
  return signal === undefined ? null : `ended by ${signal[0]}`
}
