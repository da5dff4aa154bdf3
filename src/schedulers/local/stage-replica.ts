import { readFile, rm, writeFile } from 'node:fs/promises'
import { makeDirectory } from '../../make-directory.ts'
import { crashPoint } from '../../crash-point.ts'
import { SchedulerError, type StagedTree, type SubmitContext } from '../scheduler.ts'
import type { OwnMount } from './mounts.ts'
import type { LocalReplica } from './render.ts'
import { linkFromCache, type StageCache } from './stage-cache.ts'
import { writeTree } from './write-tree.ts'

export interface StagePlace {
  readonly cache: StageCache
  /** Most that one mount may copy in; null for no bound. */
  readonly maxStageBytes: number | null
}

/** Fills the mounts of a replica that are copied in. Repeated by a later claim it leaves what is whole. */
export async function stageReplica(replica: LocalReplica, { staging, progress, signal }: SubmitContext, place: StagePlace): Promise<void> {
  const figures = { bytes: 0, files: 0, totalBytes: 0 }
  for (const mount of replica.mounts) {
    if (mount.kind !== 'own' || (mount.direction !== 'in' && mount.direction !== 'in_out')) continue
    const tree = await staging.open({ role: replica.role, index: replica.index, path: mount.path }, signal)
    refuseTooLarge(tree, mount, place.maxStageBytes)
    if ((await readFile(`${mount.source}.staged`, 'utf8').catch(() => null)) === tree.version) continue
    figures.totalBytes += tree.totalBytes
    const onFile = (size: number): void => {
      figures.bytes += size
      figures.files += 1
      progress({ reason: 'staging', detail: `${mount.path}: ${figures.bytes} of ${figures.totalBytes} bytes`, figures: { ...figures } })
    }
    crashPoint('local.stage.before')
    await rm(mount.source, { recursive: true, force: true })
    await makeDirectory(mount.source)
    const writing = { writable: !mount.readOnly, signal, onFile }
    await (mount.cache ? linkFromCache(place.cache, mount.source, tree, writing) : writeTree(mount.source, tree, writing))
    await writeFile(`${mount.source}.staged`, tree.version)
    crashPoint('local.stage.after')
  }
}

function refuseTooLarge({ totalBytes }: StagedTree, { path }: OwnMount, most: number | null): void {
  if (most === null || totalBytes <= most) return
  const words = `${path}: ${totalBytes} bytes are to be copied, and this scheduler copies ${most} at most: mount a part, or mount it live`
  throw new SchedulerError('rejected', words, { failure: 'mount_failed' })
}
