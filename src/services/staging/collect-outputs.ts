import { crashPoint } from '../../crash-point.ts'
import { outputFilter } from '../../domain/output-patterns.ts'
import type { CollectedBody, CollectedFile, StagingFigures } from '../../schedulers/scheduler.ts'
import { StoreError, type ObjectStore } from '../../stores/object-store.ts'
import type { Step } from '../attempts/step.ts'
import { commitBatch } from '../objects/commit-batch.ts'
import { finishBatch } from '../objects/finish-commits.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { openDrive } from './open-drive.ts'
import { stagedMounts, type StagedMount } from './staged-mounts.ts'

export interface Collecting {
  /** Tells this collection from others of the same attempt: `end`, or a checkpoint's number. */
  readonly round: string
  readonly progress: (phase: 'flushing' | 'committing', figures: StagingFigures) => void
}

/** Mounts whose files are taken out when the attempt ends in this way. */
export function outputsAfter(step: Step, result: 'succeeded' | 'failed' | 'canceled'): StagedMount[] {
  const wanted = result === 'succeeded' ? ['success', 'always'] : ['failure', 'always']
  return copiedOut(step).filter(({ use }) => wanted.includes(use.outputs.when))
}

/** Mounts whose files are taken out while the attempt runs, and how often at most, in seconds; null for none. */
export function checkpointsOf(step: Step): { mounts: StagedMount[]; everySeconds: number } | null {
  const mounts = copiedOut(step).filter(({ use }) => use.outputs.intervalSeconds !== null)
  if (mounts.length === 0) return null
  return { mounts, everySeconds: Math.min(...mounts.map(({ use }) => use.outputs.intervalSeconds ?? Infinity)) }
}

const copiedOut = ({ claim }: Step): StagedMount[] => stagedMounts(claim).filter(({ plan }) => plan.direction !== 'in')

/**
 * Takes the files of these mounts out of the replicas and makes them visible on their drives: first all are copied where
 * nobody sees them, then each mount's become visible together. Repeated after a crash it begins again with what was not
 * copied whole, and leaves alone what has become visible.
 *
 * @throws OutputError with the mount, and where its files lie
 * @throws SchedulerError the replica is gone, or its scheduler away
 */
export async function collectOutputs(deps: ServiceDeps, step: Step, mounts: readonly StagedMount[], collecting: Collecting): Promise<void> {
  const opened: { mount: StagedMount; store: ObjectStore; batchId: string }[] = []
  const figures = { bytes: 0, files: 0, totalBytes: 0 }
  for (const mount of mounts) {
    const batchId = `${step.claim.attemptId}-${mount.id}-${collecting.round}`
    await guarded(mount, batchId, async () => {
      const store = await openDrive(deps, step.claim.project, mount.drive)
      if ((await finishBatch(deps, { drive: mount.drive, store, signal: step.signal }, batchId)) !== null) return
      opened.push({ mount, store, batchId })
      for await (const size of copyOut(step, mount, store.batch(batchId))) {
        figures.bytes += size
        figures.files += 1
        collecting.progress('flushing', { ...figures, totalBytes: figures.bytes })
      }
    })
  }
  crashPoint('outputs.copied.after')
  collecting.progress('committing', { ...figures, totalBytes: figures.bytes })
  for (const { mount, store, batchId } of opened) {
    const onConflict = mount.use.onConflict
    await guarded(mount, batchId, () => commitBatch(deps, { drive: mount.drive, store, batchId, onConflict, signal: step.signal }))
    crashPoint('outputs.committed.after')
  }
}

async function* copyOut(
  { claim, scheduler, signal }: Step,
  mount: StagedMount,
  batch: ReturnType<ObjectStore['batch']>,
): AsyncGenerator<number> {
  const handle = { attemptId: claim.attemptId, graceSeconds: claim.spec.graceSeconds }
  const isOutput = outputFilter(mount.use.outputs)
  const prefix = prefixOf(claim.jobId, mount)
  for await (const file of scheduler.collect(handle, mount.place, signal)) {
    if (!isOutput(file.path)) {
      if (file.kind === 'file') file.body.resume()
      continue
    }
    const found = await contentOf(file, mount)
    if (found === null) continue
    await batch.write(`${prefix}${file.path}`, found.body, { size: found.size, signal })
    yield found.size
  }
}

/** Null for what is left behind. @throws StoreError `conflict` for a link that must not be there */
async function contentOf(file: CollectedFile, { use, place }: StagedMount): Promise<CollectedBody | null> {
  if (file.kind === 'file') return file
  if (file.kind === 'skipped') return null
  if (use.outputs.symlinks === 'follow') return file.follow()
  if (use.outputs.symlinks === 'skip') return null
  throw new StoreError('conflict', `${place.path}/${file.path} is a symbolic link, and the mount says that links are a failure`)
}

/** On a drive that belongs to its producers, a job writes into a directory of its own. */
function prefixOf(jobId: string, { drive, subPath }: StagedMount): string {
  const producer = drive.source.kind === 'managed' && drive.source.ownership === 'component' ? `${jobId}/` : ''
  return subPath === '' ? producer : `${producer}${subPath}/`
}

/** The files of a mount could not be made visible; nothing of them is, and they are kept. */
export class OutputError extends Error {
  override readonly name = 'OutputError'
  readonly mount: StagedMount
  /** The batch of the drive's store that holds them. */
  readonly batchId: string

  constructor(mount: StagedMount, batchId: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.mount = mount
    this.batchId = batchId
  }
}

async function guarded(mount: StagedMount, batchId: string, act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (error instanceof Error && error.name === 'StoreError') throw new OutputError(mount, batchId, error)
    throw error
  }
}
