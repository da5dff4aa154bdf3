import { join } from 'node:path'
import { SchedulerError } from '../scheduler.ts'

/** Where things lie below the root of a local scheduler. One root belongs to one machine. */
export const attemptsFolder = (root: string): string => join(root, 'attempts')
export const attemptFolder = (root: string, attemptId: string): string => join(root, 'attempts', safeName(attemptId))
export const volumesFolder = (root: string): string => join(root, 'volumes')

/** Trees of files that jobs have had copied in, by version. */
export const cacheFolder = (root: string): string => join(root, 'cache')

/** Written by a supervisor whenever its attempt should be looked at. */
export const bellsFolder = (root: string): string => join(root, 'bells')
export const bellFile = (root: string, attemptId: string): string => join(root, 'bells', safeName(attemptId))

/** While it is there, no replica of the attempt starts any more, not even by a claim that comes late. */
export const tombstonesFolder = (root: string): string => join(root, 'tombstones')
export const tombstoneFile = (root: string, attemptId: string): string => join(root, 'tombstones', safeName(attemptId))

/** What is being deleted: moved here first, so that it disappears at once. */
export const trashFolder = (root: string): string => join(root, 'trash')

/** Names of the files in a replica's folder; supervise.sh says what it writes into which. */
export const REPLICA_FILES = {
  /** `ReplicaRecord` as JSON, there before anything starts. */
  record: 'replica.json',
  launch: 'launch',
  started: 'started',
  child: 'child',
  stage: 'stage',
  exit: 'exit',
} as const

/** What must be known of a replica to find and end it, without the request that made it. Holds no environment. */
export interface ReplicaRecord {
  readonly installation: string
  readonly attemptId: string
  readonly role: string
  readonly index: number
  readonly cgroups: readonly string[]
}

/** Ids are ours, but become paths that are deleted: nothing else may pass. */
function safeName(attemptId: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(attemptId)) throw new SchedulerError('rejected', `not an attempt id: ${JSON.stringify(attemptId)}`)
  return attemptId
}
