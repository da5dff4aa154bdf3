import { inLanes } from '../../in-lanes.ts'
import { ensureNetwork, removeNetworks } from './attempt-network.ts'
import { createContainer } from './create-container.ts'
import { SchedulerError } from '../scheduler.ts'
import { wasRestartedSince } from './daemon-memory.ts'
import { deleteContainer, endContainer } from './end-containers.ts'
import { REQUESTS_AT_ONCE } from './engine.ts'
import { takenOver } from './errors.ts'
import { belongsTo, findContainers, inspectContainer, neverStarted } from './find-containers.ts'
import { probeBuckets } from './rclone/probe-buckets.ts'
import { settleClaims } from './settle-claims.ts'
import { assertStillCached, stageMounts, withCachedMounts } from './staging/stage-mounts.ts'
import { startContainer } from './start-container.ts'
import type { Submission } from './submission.ts'

/**
 * The rename fence. A container is started only by a name that ends in the claim's epoch, so a claim loses the power to start
 * what a later claim has renamed. Since an earlier claim may still create while a later one does, each looks for the other
 * after its own creates and before its first start: whoever sees a higher epoch gives up, whoever sees a lower one deletes
 * what did not start, or adopts what did.
 *
 * On the happy path of a lone replica these are three calls: create, list, start.
 */
export async function submitAttempt(submission: Submission): Promise<void> {
  const askedToStart = new Set<string>()
  try {
    await makeAndStart(submission, askedToStart)
  } catch (error) {
    // What cannot be withdrawn is an orphan, and found as one.
    if (submission.context.signal.aborted) await withdraw(submission, askedToStart).catch(() => {})
    throw error
  }
}

/** @param askedToStart takes the names of containers that may have run, whatever the daemon says of them */
async function makeAndStart(submission: Submission, askedToStart: Set<string>): Promise<void> {
  const { native: { epoch } } = submission
  // Nothing can be there before the first claim.
  const adopted = epoch > 1 ? await settleClaims(submission) : new Map<string, string>()
  await ensureNetwork(submission.engine, submission.native, submission.context.signal)
  const containers = await withCachedMounts(submission)
  await inLanes(REQUESTS_AT_ONCE, containers, async (container) => {
    await createContainer(submission, container)
    await stageMounts(submission, container)
  })
  await assertStillCached(submission, containers)
  await probeBuckets(submission)
  const standing = await settleClaims(submission)
  if (containers.some(({ name }) => !standing.has(name))) throw takenOver()
  const unstarted = containers.filter(({ name }) => standing.get(name) === 'created')
  await endingAllUnless(submission, async () => {
    for (const { name } of unstarted) if (adopted.get(name) === 'created') await assertNeverRan(submission, name)
    await inLanes(REQUESTS_AT_ONCE, unstarted, async (container) => {
      askedToStart.add(container.name)
      await startContainer(submission, container)
    })
  })
}

/** @throws SchedulerError `rejected` with `lost`: to start it might be to run it twice */
async function assertNeverRan({ engine, context: { signal } }: Submission, name: string): Promise<void> {
  const container = await inspectContainer(engine, name, signal)
  if (container === null || !(await wasRestartedSince(engine, container.Id, signal))) return
  const words = `the Docker daemon died when ${name} was to start, and nobody can tell whether it ran`
  throw new SchedulerError('rejected', words, { failure: 'lost' })
}

/** All or nothing: where one cannot start, the others are ended. */
async function endingAllUnless(submission: Submission, allStarted: () => Promise<unknown>): Promise<void> {
  try {
    await allStarted()
  } catch (error) {
    if (isFinal(error)) await abandon(submission)
    throw error
  }
}

const isFinal = (error: unknown): boolean => (error as { kind?: unknown }).kind === 'rejected'

/** By name, so that nothing is ended that a later claim has adopted. */
async function abandon({ engine, native, context: { signal } }: Submission): Promise<void> {
  await inLanes(REQUESTS_AT_ONCE, native.containers, async ({ name, create }) => {
    const ending = { engine, signal, graceSeconds: create.StopTimeout }
    await endContainer(ending, name, 'created')
  })
}

/**
 * Of a claim that was lost: deletes what it made and did not ask to start. A later claim may be done with the attempt already, and
 * would never look again; one that is under way has taken the name away from what it wants, or makes its own, and its network
 * once more before a start.
 */
async function withdraw({ engine, native }: Submission, askedToStart: ReadonlySet<string>): Promise<void> {
  const signal = AbortSignal.timeout(WITHDRAW_MS)
  const neverAsked = native.containers.filter(({ name }) => !askedToStart.has(name))
  await inLanes(REQUESTS_AT_ONCE, neverAsked, async ({ name }) => {
    const found = await inspectContainer(engine, name, signal)
    if (found !== null && neverStarted({ status: found.State.Status }) && belongsTo(found.Config.Labels, native)) {
      await deleteContainer(engine, name, signal)
    }
  })
  const left = await findContainers(engine, { installation: native.installation, attempt: native.attemptId }, signal)
  if (left.length === 0) await removeNetworks(engine, native, signal)
}

const WITHDRAW_MS = 5_000
