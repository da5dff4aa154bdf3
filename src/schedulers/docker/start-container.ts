import { setTimeout as sleep } from 'node:timers/promises'
import { crashPoint } from '../../crash-point.ts'
import type { FailureReason } from '../../domain/failure-reason.ts'
import type { ContainerCreateBody, DockerContainer } from './docker-request.ts'
import { EngineError, statusOf, type Engine } from './engine.ts'
import { assertClaimed, refusal, takenOver } from './errors.ts'
import { inspectContainer, neverStarted, type InspectedContainer } from './find-containers.ts'
import type { Submission } from './submission.ts'

/**
 * Starts a container that was seen as `created`, by its name.
 * @throws SchedulerError `conflict` if the name is gone, `rejected` if the daemon could not start it
 */
export async function startContainer({ engine, context: { signal } }: Submission, { name, create }: DockerContainer): Promise<void> {
  assertClaimed(signal)
  crashPoint('docker.start.before')
  try {
    // Not aborted with the claim: a start that was cut off would be one of which nobody knows.
    await engine.call({ method: 'POST', path: `/containers/${name}/start`, signal: new AbortController().signal, deadlineMs: 120_000 })
    crashPoint('docker.start.after')
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    await judge(engine, { name, create, error }, signal)
  }
}

interface FailedStart {
  readonly name: string
  readonly create: ContainerCreateBody
  readonly error: EngineError
}

async function judge(engine: Engine, start: FailedStart, signal: AbortSignal): Promise<void> {
  const { name, error } = start
  for (let look = 0; look < LOOKS; look++) {
    const container = await inspectContainer(engine, name, signal)
    if (container === null) throw takenOver()
    if (!neverStarted({ status: container.State.Status })) return
    if (error.statusCode !== null) throw refusal(error, await causeOf(engine, start, container))
    await sleep(250)
  }
  throw error
}

/** For a start without an answer: it may be inside of the daemon still. */
const LOOKS = 20

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
  const signal = new AbortController().signal
  try {
    await engine.call({ method: 'HEAD', path: `/containers/${name}/archive`, query: { path: '/' }, signal })
    return true
  } catch (error) {
    return statusOf(error) === null
  }
}
