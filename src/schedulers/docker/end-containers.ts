import { crashPoint } from '../../crash-point.ts'
import { statusOf, type Engine } from './engine.ts'
import { neverStarted, type FoundContainer } from './find-containers.ts'

/** What the end of a container's process needs to know. */
export interface Ending {
  readonly engine: Engine
  readonly signal: AbortSignal
  /** Between SIGTERM and SIGKILL. */
  readonly graceSeconds: number
}

/** Stops what runs and deletes what never started, so that it never will. @param container by name or id */
export async function endContainer(ending: Ending, container: string, status: string): Promise<void> {
  if (neverStarted({ status })) {
    if (await deleteContainer(ending.engine, container, ending.signal)) return
  }
  await stopContainer(ending, container, status)
}

/**
 * Without force, so that nothing that runs is lost; anonymous volumes go with it, named ones stay.
 * @returns false if it runs and so is still there
 */
export async function deleteContainer(engine: Engine, container: string, signal: AbortSignal): Promise<boolean> {
  crashPoint('docker.delete.before')
  try {
    await engine.call({ method: 'DELETE', path: `/containers/${container}`, query: { v: true }, signal, deadlineMs: 120_000 })
    crashPoint('docker.delete.after')
    return true
  } catch (error) {
    const status = statusOf(error)
    if (status === 404) return true
    // Runs, or is being deleted by somebody else: the caller looks again.
    if (status === 409) return false
    throw error
  }
}

async function stopContainer({ engine, graceSeconds, signal }: Ending, container: string, status: string): Promise<void> {
  // A frozen process can take no signal.
  if (status === 'paused') await quietly(engine.call({ method: 'POST', path: `/containers/${container}/unpause`, signal }))
  crashPoint('docker.stop.before')
  const deadlineMs = (graceSeconds + 60) * 1000
  await quietly(engine.call({ method: 'POST', path: `/containers/${container}/stop`, query: { t: graceSeconds }, signal, deadlineMs }))
  crashPoint('docker.stop.after')
}

/** Gone, or stopped by another: both are what was wanted. */
async function quietly(call: Promise<unknown>): Promise<void> {
  try {
    await call
  } catch (error) {
    if (![304, 404, 409].includes(statusOf(error) ?? 0)) throw error
  }
}

/** Whether it has, or may get, a process. */
export const isAlive = ({ status }: FoundContainer): boolean => !['exited', 'dead', 'removing'].includes(status)
