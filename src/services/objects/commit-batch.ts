import { crashPoint } from '../../crash-point.ts'
import type { OnConflict } from '../../stores/object-store.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { commitFigures, refuseOverQuota, type CommitFigures } from './commit-figures.ts'
import { finishBatch, finishCommits, type DriveObjects } from './finish-commits.ts'

export interface Commit extends DriveObjects {
  readonly batchId: string
  readonly onConflict: OnConflict
}

/**
 * Makes a batch visible. What speaks against it is looked for first; once its row is in the database it is moved to its
 * end, by whoever finds it. A drive has one such row at a time, and it is made only if nothing else became visible since
 * the look. A batch that was made visible before changes nothing.
 *
 * @throws StoreError `precondition_failed`, `conflict`, `too_large` over the drive's quota; nothing is visible then
 */
export async function commitBatch(deps: ServiceDeps, commit: Commit): Promise<CommitFigures> {
  const { drive, store, batchId, onConflict, signal } = commit
  const batch = store.batch(batchId)
  for (;;) {
    const seen = await finishCommits(deps, commit)
    const changed = await finishBatch(deps, commit, batchId)
    if (changed !== null) return changed
    await batch.check({ onConflict, signal })
    const objects = await batch.keys(signal)
    const figures = await commitFigures(commit, objects)
    if (objects.length === 0) return figures
    await refuseOverQuota(deps, drive, figures)
    await begin(deps, commit, { figures, seen })
    crashPoint('commit.begun.after')
  }
}

/** Against the end of another one, which takes it too, the lock of the drive's row is held. */
const BEGIN = `
INSERT INTO drive_commit (id, drive_id, on_conflict, figures, mover_until)
SELECT $1, id, $3, $4::jsonb, now() FROM drive WHERE id = $2 AND commits = $5 FOR UPDATE
ON CONFLICT DO NOTHING`

const BEGIN_UNREGISTERED = `
INSERT INTO drive_commit (id, on_conflict, figures, mover_until) VALUES ($1, $2, $3::jsonb, now()) ON CONFLICT DO NOTHING`

async function begin(
  deps: ServiceDeps,
  { drive, batchId, onConflict }: Commit,
  { figures, seen }: { figures: CommitFigures; seen: number | null },
): Promise<void> {
  const told = JSON.stringify(figures)
  await (drive.id === null
    ? deps.pool.query(BEGIN_UNREGISTERED, [batchId, onConflict, told])
    : deps.pool.query(BEGIN, [batchId, drive.id, onConflict, told, seen]))
}

/** Forgets a batch, unless it was begun to be made visible. */
export async function abandonBatch(deps: ServiceDeps, { store, batchId, signal }: Omit<Commit, 'onConflict'>): Promise<void> {
  const { rowCount } = await deps.pool.query('SELECT FROM drive_commit WHERE id = $1', [batchId])
  if (rowCount === 0) await store.batch(batchId).abandon(signal)
}
