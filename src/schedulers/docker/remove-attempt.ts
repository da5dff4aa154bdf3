import { inLanes } from '../../in-lanes.ts'
import { removeNetworks } from './attempt-network.ts'
import { deleteContainer } from './end-containers.ts'
import { REQUESTS_AT_ONCE, type Engine } from './engine.ts'
import { findContainers } from './find-containers.ts'

interface AttemptOwner {
  readonly installation: string
  readonly attemptId: string
}

/** Deletes what an attempt left. What runs stays, and with it the network that it is in. @returns whether nothing is left */
export async function removeAttempt(engine: Engine, attempt: AttemptOwner, signal: AbortSignal): Promise<boolean> {
  const { installation, attemptId } = attempt
  const found = await findContainers(engine, { installation, attempt: attemptId }, signal)
  const deleted = await inLanes(REQUESTS_AT_ONCE, found, ({ id }) => deleteContainer(engine, id, signal))
  await removeNetworks(engine, attempt, signal)
  return deleted.every(Boolean)
}
