import { setTimeout as sleep } from 'node:timers/promises'
import { crashPoint } from '../../crash-point.ts'
import type { FailureReason } from '../../domain/failure-reason.ts'
import { ensureNetwork } from './attempt-network.ts'
import type { DockerContainer } from './docker-request.ts'
import { EngineError, statusOf, unaborted, type Engine } from './engine.ts'
import { assertClaimed, refusal, takenOver } from './errors.ts'
import { inspectContainer, neverStarted, type InspectedContainer } from './find-containers.ts'
import type { Submission } from './submission.ts'

/**
 * Starts a container that was seen as `created`, by its name.
 * @throws SchedulerError `conflict` if the name is gone, `rejected` if the daemon could not start it
 */
export async function startContainer(submission: Submission, container: DockerContainer): Promise<void> {
  const { engine, native, context: { signal } } = submission
  for (let round = 0; ; round++) {
    const error = await tryStart(submission, container)
    if (error === null) return
    const failed = await findUnstarted(submission, container.name, error)
    if (failed === null) return
    const failure = await causeOf(engine, { ...container, error }, failed)
    // A race for the network leaves two of its name for a moment, and a clean-up on the machine takes it while nobody uses it.
    if (failure !== 'system_error' || native.network === null || round >= NETWORK_ROUNDS) throw refusal(error, failure)
    await sleep(100)
    await ensureNetwork(engine, native, signal)
  }
}

const NETWORK_ROUNDS = 3

async function tryStart({ engine, context: { signal } }: Submission, { name }: DockerContainer): Promise<EngineError | null> {
  assertClaimed(signal)
  crashPoint('docker.start.before')
  try {
    await engine.call({ method: 'POST', path: `/containers/${name}/start`, signal: unaborted(), deadlineMs: 120_000 })
    crashPoint('docker.start.after')
    return null
  } catch (error) {
    if (error instanceof EngineError) return error
    throw error
  }
}

/** The container that did not start; null if it did start in the end. */
async function findUnstarted({ engine, context }: Submission, name: string, error: EngineError): Promise<InspectedContainer | null> {
  for (let look = 0; look < LOOKS; look++) {
    const container = await inspectContainer(engine, name, context.signal)
    if (container === null) throw takenOver()
    if (!neverStarted({ status: container.State.Status })) return null
    if (error.statusCode !== null) return container
    await sleep(250)
  }
  throw error
}

/** For a start without an answer: it may be inside of the daemon still. */
const LOOKS = 20

type FailedStart = DockerContainer & { readonly error: EngineError }

/**
 * Told apart by what the daemon noted as exit code: 127 and 126 are a command that is not there or not executable; none at
 * all is a check before the start, which only a mount that has changed since the create can fail; 128 is any step of the
 * start itself. Of those, devices and mounts are looked at; a user given by name and GPUs are what a machine may not have.
 */
async function causeOf(engine: Engine, { name, create, error }: FailedStart, { State }: InspectedContainer): Promise<FailureReason> {
  const { Mounts, Devices, DeviceRequests } = create.HostConfig
  if (State.ExitCode === 127 || State.ExitCode === 126) return 'executor_error'
  if (State.ExitCode === 0) return Mounts !== undefined && error.statusCode === 400 ? 'mount_failed' : 'system_error'
  if (Devices !== undefined) return 'mount_failed'
  if (Mounts !== undefined && !(await canMount(engine, name))) return 'mount_failed'
  const byName = create.User !== undefined && !/^\d+(:\d+)?$/.test(create.User)
  return byName || DeviceRequests !== undefined ? 'rejected' : 'system_error'
}

/** To look at a file of a container that does not run, the daemon mounts its volumes first. */
async function canMount(engine: Engine, name: string): Promise<boolean> {
  const signal = unaborted()
  try {
    await engine.call({ method: 'HEAD', path: `/containers/${name}/archive`, query: { path: '/' }, signal })
    return true
  } catch (error) {
    return statusOf(error) === null
  }
}
