import { workOnOutput } from '../../src/services/logs/work-on-output.ts'
import type { WorkerDeps } from '../../src/services/worker-deps.ts'

/** Moves the output of an attempt that is stored by now into the store of outputs. */
export async function archive(deps: WorkerDeps, attemptId: string): Promise<void> {
  // What is due at this very moment may be rounded into the next millisecond.
  const due = `VALUES ($1, 'archive', now() - interval '1 second')`
  await deps.pool.query(`INSERT INTO log_work (attempt_id, act, due_at) ${due} ON CONFLICT DO NOTHING`, [attemptId])
  await workOnOutput(deps, new AbortController().signal)
}
