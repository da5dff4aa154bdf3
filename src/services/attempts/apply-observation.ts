import type { AttemptObservation, ReplicaObservation } from '../../domain/attempt.ts'
import { decideOutcome } from '../../domain/decide-outcome.ts'
import { recordReplicas } from '../../db/statements/record-replicas.ts'
import { findLiveAttempt, stopOf, type LiveAttempt } from './live-attempt.ts'
import { noteProgress, transition } from './transition.ts'
import type { WorkerDeps } from '../worker-deps.ts'

export interface Applied {
  readonly live: LiveAttempt
  /** All of its replicas have ended: it can be settled. */
  readonly ended: boolean
}

/**
 * Turns what a scheduler says of an attempt into replicas' facts and moves of state. A late or repeated one changes
 * nothing, and one of an attempt that is settled or unknown gives null.
 */
export async function applyObservation(deps: WorkerDeps, observed: AttemptObservation): Promise<Applied | null> {
  let live = await findLiveAttempt(deps, observed.attemptId)
  if (!live) return null
  await recordReplicas(deps.pool, observed.attemptId, observed.replicas)
  await noteRestart(deps, live, observed.replicas)
  for (let look = 0; look < LOOKS; look += 1) {
    const replicas = merge(live.replicas, observed.replicas)
    await noteStart(deps, live, replicas)
    const end = await noteEnd(deps, live, replicas)
    if (end !== 'overtaken') return { live, ended: end === 'noted' }
    const moved = await findLiveAttempt(deps, observed.attemptId)
    if (!moved) return { live, ended: true }
    live = moved
  }
  return { live, ended: false }
}

/** A cancel or a deadline that comes between look and note moves the state; what is missed even so, `MissingAttempts` finds. */
const LOOKS = 3

/** An ended replica stays ended, whatever is said of it later. */
function merge(known: readonly ReplicaObservation[], seen: readonly ReplicaObservation[]): ReplicaObservation[] {
  const all = new Map(known.map((replica) => [`${replica.role}/${replica.index}`, replica]))
  for (const replica of seen) {
    const key = `${replica.role}/${replica.index}`
    const before = all.get(key)
    if (before?.phase !== 'succeeded' && before?.phase !== 'failed') all.set(key, replica)
  }
  return [...all.values()]
}

/** Times of one start, told in more ways than one, differ by less. */
const SAME_START_MS = 1_000

/** Nothing of ours starts a replica twice. */
async function noteRestart(deps: WorkerDeps, { attemptId, replicas }: LiveAttempt, seen: readonly ReplicaObservation[]): Promise<void> {
  for (const { role, index, startedAt } of seen) {
    const before = replicas.find((known) => known.role === role && known.index === index)?.startedAt
    if (!startedAt || !before || Date.parse(startedAt) - Date.parse(before) < SAME_START_MS) continue
    const detail = `${role}/${index} was started again by somebody else: it has run more than once`
    await noteProgress(deps, 'running', { attemptId, reason: 'restarted', detail })
  }
}

async function noteStart(deps: WorkerDeps, { attemptId, state }: LiveAttempt, replicas: ReplicaObservation[]): Promise<void> {
  const started = replicas.some((replica) => replica.startedAt !== null)
  if (started && (state === 'starting' || state === 'pending')) await transition(deps, 'running', { attemptId })
}

async function noteEnd(deps: WorkerDeps, live: LiveAttempt, replicas: ReplicaObservation[]): Promise<'open' | 'noted' | 'overtaken'> {
  const { attemptId, spec } = live
  const stop = stopOf(live)
  const decision = decideOutcome({ ...spec, observations: replicas, stop })
  if (decision.kind === 'stop') {
    await noteProgress(deps, 'running', { attemptId, reason: decision.reason, stopReason: decision.reason, wake: true })
  } else if (decision.kind === 'ended') {
    const { outcome } = decision
    const change = { attemptId, outcome, reason: outcome.reason, detail: outcome.detail, wake: true }
    const moved = (await noteProgress(deps, 'canceling', change)) ?? (await transition(deps, 'finishing', change))
    return moved ? 'noted' : 'overtaken'
  }
  return 'open'
}
