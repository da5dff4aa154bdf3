import { setTimeout as sleep } from 'node:timers/promises'
import { crashPoint } from '../../crash-point.ts'
import { SchedulerError } from '../scheduler.ts'
import type { ContainerCreateBody, DockerContainer } from './docker-request.ts'
import { deleteContainer } from './end-containers.ts'
import { EngineError, statusOf, unaborted } from './engine.ts'
import { assertClaimed, refusal } from './errors.ts'
import { belongsTo, inspectContainer } from './find-containers.ts'
import { LABELS } from './labels.ts'
import { pullImage } from './pull-image.ts'
import type { Submission } from './submission.ts'

/**
 * Makes a container, or finds that it is there. The image is fetched only when the daemon says that it is missing: asking
 * first would cost every job a call.
 */
export async function createContainer(submission: Submission, container: DockerContainer): Promise<void> {
  for (let round = 0; ; round++) {
    const error = await tryCreate(submission, container)
    if (error === null || (await isThere(submission, container.name))) return
    if (error.statusCode === 404 && round === 0) {
      await pullMissing(submission)
      continue
    }
    if (error.statusCode !== 409) throw await explain(submission, container, error)
    // A name may stay taken for a while by a create that failed inside of the daemon.
    if (round >= NAME_ROUNDS) throw new SchedulerError('conflict', error.message, { cause: error, failure: 'system_error' })
    await sleep(1500, undefined, { signal: submission.context.signal }).catch(() => {})
  }
}

const NAME_ROUNDS = 3

async function tryCreate(submission: Submission, { name, create }: DockerContainer): Promise<EngineError | null> {
  assertClaimed(submission.context.signal)
  crashPoint('docker.create.before')
  try {
    await post(submission, name, create)
    crashPoint('docker.create.after')
    return null
  } catch (error) {
    if (error instanceof EngineError) return error
    throw error
  }
}

const post = ({ engine }: Submission, name: string, body: ContainerCreateBody): Promise<unknown> =>
  engine.call({ method: 'POST', path: '/containers/create', query: { name }, body, signal: unaborted(), deadlineMs: 120_000 })

/** @throws SchedulerError `conflict` when the name is held by what is not ours */
async function isThere({ engine, native, context }: Submission, name: string): Promise<boolean> {
  const found = await inspectContainer(engine, name, context.signal)
  if (found === null) return false
  if (belongsTo(found.Config.Labels, native)) return true
  throw new SchedulerError('conflict', `the container name ${name} is taken by something else`, { failure: 'system_error' })
}

async function pullMissing({ engine, native, context, registries }: Submission): Promise<void> {
  for (const image of native.images) await pullImage(engine, image, context, registries)
}

/** A refused create says in words only what it was about, so the same is tried without the mounts, and deleted again. */
async function explain(submission: Submission, container: DockerContainer, error: EngineError): Promise<unknown> {
  const { statusCode } = error
  if (statusCode === null) return error
  const { Mounts, Devices } = container.create.HostConfig
  if (Mounts === undefined && Devices === undefined) return refusal(error, statusCode >= 500 ? 'system_error' : 'rejected')
  if (statusCode >= 500) return refusal(error, 'system_error')
  return refusal(error, (await worksWithoutMounts(submission, container)) ? 'mount_failed' : 'rejected')
}

async function worksWithoutMounts(submission: Submission, { name, create }: DockerContainer): Promise<boolean> {
  const { engine, context: { signal } } = submission
  const probe = `${name}-probe`
  const { [LABELS.role]: _role, [LABELS.replica]: _replica, ...labels } = create.Labels
  const { Mounts: _mounts, Devices: _devices, ...hostConfig } = create.HostConfig
  assertClaimed(signal)
  try {
    await post(submission, probe, { ...create, Labels: labels, HostConfig: hostConfig })
  } catch (error) {
    // A missing image is looked for only after everything else was found to be right.
    return statusOf(error) === 404 || statusOf(error) === 409
  }
  await deleteContainer(engine, probe, unaborted())
  return true
}
