import { setTimeout as sleep } from 'node:timers/promises'
import { crashPoint } from '../../crash-point.ts'
import { deleteContainer } from './end-containers.ts'
import { statusOf, type Engine } from './engine.ts'
import { assertClaimed, takenOver } from './errors.ts'
import { byStanding, findContainers, inspectContainer, isReplica, neverStarted, type FoundReplica } from './find-containers.ts'
import { wasStarted } from './status.ts'
import type { Submission } from './submission.ts'

/**
 * Brings all containers of the attempt under this claim: one for each replica, by this claim's name.
 * @returns the status of each container that there is, by name
 * @throws SchedulerError `conflict` when a higher claim is there; what this one made and did not start is deleted
 */
export async function settleClaims(submission: Submission): Promise<ReadonlyMap<string, string>> {
  for (let round = 0; round < ROUNDS; round++) {
    const found = await listReplicas(submission)
    if (found.some(({ identity }) => identity.epoch > submission.native.epoch)) return giveUp(submission, found)
    const foreign = found.filter(({ identity }) => identity.epoch < submission.native.epoch)
    if (foreign.length === 0) return new Map(found.map(({ name, status }) => [name, status]))
    for (const container of foreign) await adopt(submission, container, found)
    await waitOut(submission)
  }
  throw takenOver()
}

const ROUNDS = 5
/** A start by the old name that was inside of the daemon at the time of the rename has taken effect after this. */
const SETTLE_MS = 500

async function listReplicas({ engine, native, context: { signal } }: Submission): Promise<FoundReplica[]> {
  assertClaimed(signal)
  const { installation, attemptId } = native
  const found = (await findContainers(engine, { installation, attempt: attemptId }, signal)).filter(isReplica)
  const leaving = found.filter(({ status }) => status === 'removing')
  for (const { id } of leaving) await assertNothingIsOver(engine, id, signal)
  return found.filter((container) => !leaving.includes(container))
}

/** What another claim deletes was either never started, and counts no more, or is the end of the attempt. */
async function assertNothingIsOver(engine: Engine, id: string, signal: AbortSignal): Promise<void> {
  const container = await inspectContainer(engine, id, signal)
  if (container !== null && wasStarted(container.State)) throw takenOver()
}

async function giveUp({ engine, native, context: { signal } }: Submission, found: readonly FoundReplica[]): Promise<never> {
  const ours = found.filter((container) => container.identity.epoch === native.epoch && neverStarted(container))
  for (const { name } of ours) await deleteContainer(engine, name, signal)
  throw takenOver()
}

/** What an earlier claim left: takes its name away if it stands for its replica, else deletes it. */
async function adopt(submission: Submission, container: FoundReplica, found: readonly FoundReplica[]): Promise<void> {
  const { engine, native, context: { signal } } = submission
  const { identity } = container
  const siblings = found.filter(({ identity: { role, index } }) => role === identity.role && index === identity.index)
  const [standing, ...others] = siblings.sort(byStanding)
  assertClaimed(signal)
  if (standing !== container) return void (await deleteContainer(engine, container.name, signal))
  for (const { name, id } of others) if (id !== container.id) await deleteContainer(engine, name, signal)
  const target = native.containers.find(({ role, index }) => role === identity.role && index === identity.index)
  if (target !== undefined) await rename(submission, container.id, target.name)
}

/** 404: it is gone. 409: the name is taken. Either way the next look shows how things stand. */
async function rename({ engine, context: { signal } }: Submission, id: string, name: string): Promise<void> {
  assertClaimed(signal)
  crashPoint('docker.rename.before')
  try {
    await engine.call({ method: 'POST', path: `/containers/${id}/rename`, query: { name }, signal, deadlineMs: 120_000 })
    crashPoint('docker.rename.after')
  } catch (error) {
    if (![404, 409].includes(statusOf(error) ?? 0)) throw error
  }
}

/** An inspection waits for a start that is under way; a list does not. */
async function waitOut(submission: Submission): Promise<void> {
  const created = (await listReplicas(submission)).filter(neverStarted)
  if (created.length === 0) return
  await sleep(SETTLE_MS)
  for (const { id } of created) await inspectContainer(submission.engine, id, submission.context.signal)
}
