import type { Engine } from './engine.ts'
import { identify, LABELS, labelFilter, type ContainerIdentity } from './labels.ts'
import type { ContainerState } from './status.ts'

/** A container of ours as a list shows it. */
export interface FoundContainer {
  readonly id: string
  readonly name: string
  /** `created`, `running`, `paused`, `exited`…: may be some milliseconds old. */
  readonly status: string
  /** null for one that is no replica, such as a probe. */
  readonly identity: ContainerIdentity | null
}

interface Wanted {
  readonly installation: string
  readonly attempt?: string
}

/** All containers with these labels, in whatever state. */
export async function findContainers(engine: Engine, wanted: Wanted, signal: AbortSignal): Promise<FoundContainer[]> {
  const query = { all: true, filters: labelFilter(wanted) }
  const list = await engine.call<ListedContainer[]>({ method: 'GET', path: '/containers/json', query, signal })
  return list.map(({ Id, Names, State, Labels }) => {
    const name = Names.find((each) => each.lastIndexOf('/') === 0)?.slice(1) ?? ''
    return { id: Id, name, status: State, identity: identify(Labels, name) }
  })
}

interface ListedContainer {
  readonly Id: string
  readonly Names: readonly string[]
  readonly State: string
  readonly Labels: Readonly<Record<string, string>>
}

/** A container as it is at this moment: waits for a start that is under way. */
export interface InspectedContainer {
  readonly Id: string
  readonly Name: string
  readonly State: ContainerState
  readonly Config: { readonly Labels: Readonly<Record<string, string>> }
}

/** @param container name or id. null if it is not there. */
export function inspectContainer(engine: Engine, container: string, signal: AbortSignal): Promise<InspectedContainer | null> {
  return engine.find({ method: 'GET', path: `/containers/${container}/json`, signal })
}

/** Replicas of one attempt; what else carries its label is left out. */
export type FoundReplica = FoundContainer & { readonly identity: ContainerIdentity }

export const isReplica = (container: FoundContainer): container is FoundReplica => container.identity !== null

/** Whether its process was ever asked to begin. */
export const neverStarted = ({ status }: Pick<FoundContainer, 'status'>): boolean => status === 'created'

/**
 * The one that stands for the replica where claims left more than one: what was started comes before what was not, then
 * the later claim.
 */
export const byStanding = (a: FoundReplica, b: FoundReplica): number =>
  Number(neverStarted(a)) - Number(neverStarted(b)) || b.identity.epoch - a.identity.epoch

/** Whether these labels are of this installation and attempt. */
export const belongsTo = (labels: Readonly<Record<string, string>>, owner: { installation: string; attemptId: string }): boolean =>
  labels[LABELS.installation] === owner.installation && labels[LABELS.attempt] === owner.attemptId
