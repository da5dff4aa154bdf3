import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { crashPoint } from '../../crash-point.ts'
import { forbidStart } from './cancel-attempt.ts'
import { removeCgroups } from './cgroups.ts'
import { errorCode, unlessMissing } from './errors.ts'
import { attemptFolder, bellFile, trashFolder } from './folders.ts'
import type { LocalPlace } from './local-place.ts'
import { readAttempt, readStart } from './replica-facts.ts'
import type { ReplicaFacts } from './replica-facts.ts'
import { killReplica } from './stop-replica.ts'

/**
 * Deletes all of an attempt but its volumes, if nothing of it runs; else leaves it as it is. From then on a tombstone
 * keeps late claims from starting it anew.
 * @returns whether nothing is left
 */
export async function removeAttempt(place: LocalPlace, attemptId: string, signal: AbortSignal): Promise<boolean> {
  const { root, installation, isolation } = place
  if ((await settled(await readAttempt(root, attemptId, installation))).some(isRunning)) return false
  crashPoint('local.remove.before')
  await forbidStart(root, attemptId)
  const replicas = await settled(await readAttempt(root, attemptId, installation))
  if (replicas.some(isRunning)) return false
  if (isolation === 'links') await Promise.all(replicas.map((replica) => killReplica(replica, { isolation, graceSeconds: 0, signal })))
  await removeCgroups(replicas.flatMap(({ record }) => record.cgroups))
  const trash = join(trashFolder(root), `${attemptId}-${randomUUID()}`)
  if (await rename(attemptFolder(root, attemptId), trash).then(() => true).catch(unlessMissing(false))) await deleteTree(trash)
  await rm(bellFile(root, attemptId), { force: true })
  crashPoint('local.remove.after')
  return true
}

/** Deletes a folder, also with what a job has made unreadable in it. Links are not followed. */
export async function deleteTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true })
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error
    await promisify(execFile)('chmod', ['-R', 'u+rwx', folder])
    await rm(folder, { recursive: true, force: true })
  }
}

const isRunning = ({ start }: ReplicaFacts): boolean => start?.alive === true

/** A supervisor lives a moment longer than its replica; that is no reason to leave anything. */
async function settled(replicas: readonly ReplicaFacts[]): Promise<readonly ReplicaFacts[]> {
  let facts = replicas
  for (let tries = 0; tries < 100 && facts.some((one) => one.exit !== null && isRunning(one)); tries++) {
    await sleep(10)
    facts = await Promise.all(facts.map(refreshed))
  }
  return facts
}

const refreshed = async (replica: ReplicaFacts): Promise<ReplicaFacts> => ({ ...replica, start: await readStart(replica.folder) })
