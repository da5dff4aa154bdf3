import { crashPoint } from '../../crash-point.ts'
import { SchedulerError } from '../scheduler.ts'
import type { DockerRequest, NetworkCreateBody } from './docker-request.ts'
import { EngineError, statusOf, unaborted, type Engine } from './engine.ts'
import { assertClaimed } from './errors.ts'
import { labelFilter } from './labels.ts'

/**
 * Makes the network of an attempt unless it is there. Docker may make two of one name for two concurrent requests, so both
 * ends look afterwards and keep the same one: the oldest.
 */
export async function ensureNetwork(engine: Engine, native: DockerRequest, signal: AbortSignal): Promise<void> {
  if (native.network === null) return
  assertClaimed(signal)
  const failure = await createNetwork(engine, native.network)
  assertClaimed(signal)
  const [kept, ...later] = await findNetworks(engine, native, signal)
  if (kept === undefined) throw failure ?? new SchedulerError('conflict', `network ${native.network.Name} is gone`)
  for (const { Id } of later) await deleteNetwork(engine, Id, signal)
}

/** Deletes the networks of an attempt, but for those that a container still uses. */
export async function removeNetworks(engine: Engine, owner: NetworkOwner, signal: AbortSignal): Promise<void> {
  for (const { Id } of await findNetworks(engine, owner, signal)) await deleteNetwork(engine, Id, signal)
}

type NetworkOwner = Pick<DockerRequest, 'installation' | 'attemptId'>

interface Network {
  readonly Id: string
  readonly Created: string
}

async function createNetwork(engine: Engine, body: NetworkCreateBody): Promise<Error | null> {
  crashPoint('docker.network.create.before')
  try {
    await engine.call({ method: 'POST', path: '/networks/create', body, signal: unaborted() })
    crashPoint('docker.network.create.after')
    return null
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    if (error.statusCode !== 409) return error
    return new SchedulerError('conflict', `the network name ${body.Name} is taken`, { cause: error, failure: 'system_error' })
  }
}

/** Oldest first. */
async function findNetworks(engine: Engine, { installation, attemptId }: NetworkOwner, signal: AbortSignal): Promise<Network[]> {
  const query = { filters: labelFilter({ installation, attempt: attemptId }) }
  const found = await engine.call<Network[]>({ method: 'GET', path: '/networks', query, signal })
  return found.sort((a, b) => Date.parse(a.Created) - Date.parse(b.Created) || (a.Created < b.Created ? -1 : 1))
}

/** 403: it has endpoints. 404: it is gone. */
async function deleteNetwork(engine: Engine, id: string, signal: AbortSignal): Promise<void> {
  crashPoint('docker.network.delete.before')
  try {
    await engine.call({ method: 'DELETE', path: `/networks/${id}`, signal })
  } catch (error) {
    if (![403, 404, 409].includes(statusOf(error) ?? 0)) throw error
  }
}
