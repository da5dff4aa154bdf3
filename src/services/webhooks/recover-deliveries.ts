import { fanOut, MESSAGE_DAYS } from '../../db/statements/fan-out.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { getWebhook, type WebhookName } from './webhooks.ts'

export interface Recovery {
  /** Messages that were given up and are tried again. */
  readonly retried: number
  /** Events that it was never told of, such as while it was not enabled. */
  readonly added: number
}

/** $2, but not beyond what is remembered. */
const SINCE = `greatest($2::timestamptz, now() - interval '${MESSAGE_DAYS} days')`

const RETRY = `
UPDATE webhook_delivery SET state = 'pending', due_at = now(), tries = 0
WHERE webhook_id = $1 AND state = 'failed' AND event_at >= ${SINCE}`

/** In the order of their events, as of now in what the job is called; each as it was then in all else. */
const ADD_JOBS = fanOut({
  from: `FROM job_event e JOIN job m ON m.id = e.job_id
    JOIN webhook w ON w.id = $1 AND w.project_id = m.project_id WHERE e.at >= ${SINCE}`,
  kind: 'job',
  type: 'e.type',
  subject: 'm.id',
  seq: 'e.seq',
  at: 'e.at',
  labels: 'm.labels',
  named: "coalesce((m.spec::jsonb->'webhooks') ? w.name, false)",
  data: `jsonb_build_object('jobId', m.id, 'name', m.name, 'scheduler', m.scheduler, 'labels', m.labels, 'sequence', e.seq,
    'attempt', e.attempt, 'figures', NULL) || e.data`,
})

const ADD_DRIVES = fanOut({
  from: `FROM drive_event e JOIN drive d ON d.id = e.drive_id
    JOIN webhook w ON w.id = $1 AND w.project_id = d.project_id WHERE e.at >= ${SINCE}`,
  kind: 'drive',
  type: "'drive.' || e.type",
  subject: 'd.id',
  seq: 'e.seq',
  at: 'e.at',
  labels: 'd.labels',
  named: 'false',
  data: `jsonb_build_object('driveId', d.id, 'drive', d.name, 'sequence', e.seq) || e.data`,
})

/**
 * Sends all since a time, of the last 30 days at most, that the webhook has not taken. Once more it sends nothing twice.
 *
 * @throws Problem `not_found`
 */
export async function recoverDeliveries(deps: ServiceDeps, name: WebhookName, since: string): Promise<Recovery> {
  const { id } = await getWebhook(deps, name)
  const counts: number[] = []
  for (const text of [RETRY, ADD_JOBS, ADD_DRIVES]) counts.push((await deps.pool.query(text, [id, since])).rowCount ?? 0)
  const [retried = 0, jobs = 0, drives = 0] = counts
  deps.signals.notify('webhooks')
  return { retried, added: jobs + drives }
}
