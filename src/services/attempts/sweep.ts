import { QUEUE_TIMED_OUT } from '../../domain/decide-outcome.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { noteProgress } from './transition.ts'

const BATCH = 500

const OVERDUE = `
SELECT id FROM attempt
WHERE deadline_at <= now() AND outcome IS NULL AND state = 'running' AND stop_reason IS NULL LIMIT ${BATCH}`

const WAITED_TOO_LONG = `
SELECT id FROM attempt
WHERE queue_deadline_at <= now() AND outcome IS NULL AND state IN ('queued', 'starting', 'pending') AND stop_reason IS NULL
LIMIT ${BATCH}`

/** Tells every attempt that has run, or waited to run, longer than it may to stop. */
export async function sweepOverdue(deps: ServiceDeps): Promise<void> {
  const { rows } = await deps.pool.query<{ id: string }>({ name: 'overdue', text: OVERDUE })
  for (const { id } of rows) {
    const change = {
      attemptId: id,
      reason: 'timed_out',
      detail: 'it ran longer than timeoutSeconds',
      stopReason: 'timed_out',
      wake: true,
    } as const
    await noteProgress(deps, 'running', change)
  }
  await sweepQueue(deps)
}

async function sweepQueue(deps: ServiceDeps): Promise<void> {
  const { rows } = await deps.pool.query<{ id: string }>({ name: 'waited_too_long', text: WAITED_TOO_LONG })
  for (const { id } of rows) {
    const { reason, detail } = QUEUE_TIMED_OUT
    const change = { attemptId: id, reason, detail, stopReason: 'queue_timed_out', wake: true } as const
    for (const state of ['queued', 'starting', 'pending'] as const) if (await noteProgress(deps, state, change)) break
  }
}
