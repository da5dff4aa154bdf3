import { sql } from 'kysely'
import type { Page } from '../../domain/job-view.ts'
import { Problem } from '../../domain/problem.ts'
import { pageAfter, readCursor } from '../jobs/keyset-cursor.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { getWebhook, type WebhookName } from './webhooks.ts'

/** A message on its way to a webhook, with every try. Times are RFC 3339 UTC. */
export interface DeliveryView {
  readonly id: string
  readonly type: string
  /** Id of what it is about. */
  readonly subject: string
  readonly sequence: number
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly eventAt: string
  readonly deliveredAt: string | null
  /** Null once it is over. */
  readonly nextAttemptAt: string | null
  readonly data: unknown
  readonly attempts: readonly DeliveryAttempt[]
}

export interface DeliveryAttempt {
  readonly number: number
  readonly at: string
  /** Of the answer; null if there was none. */
  readonly status: number | null
  readonly latencyMs: number
  readonly error: string | null
  /** Its beginning. */
  readonly answer: string | null
}

export interface DeliveryFilters {
  readonly state?: 'pending' | 'delivered' | 'failed'
  readonly subject?: string
}

/** The newest first. @throws Problem `not_found`, `malformed_request` for a cursor of another list */
export async function listDeliveries(
  deps: ServiceDeps,
  name: WebhookName,
  { filters, limit, cursor }: { filters: DeliveryFilters; limit: number; cursor: string | undefined },
): Promise<Page<DeliveryView>> {
  const webhook = await getWebhook(deps, name)
  const list = { list: 'deliveries', webhook: webhook.id, ...filters }
  const after = readCursor(cursor, list)
  let query = selectDeliveries(deps).where('d.webhook_id', '=', webhook.id)
  if (filters.state !== undefined) query = query.where('d.state', '=', filters.state)
  if (filters.subject !== undefined) query = query.where('d.subject', '=', filters.subject)
  if (after !== null) {
    const [at = '', id = ''] = after.split(' ')
    query = query.where(sql<boolean>`(d.event_at, d.id) < (${at}::timestamptz, ${id})`)
  }
  const rows = await query
    .orderBy('d.event_at', 'desc')
    .orderBy('d.id', 'desc')
    .limit(limit + 1)
    .execute()
  const items = rows.slice(0, limit).map(viewOf)
  const last = items.at(-1)
  return { items, nextCursor: rows.length > limit && last ? pageAfter(`${last.eventAt} ${last.id}`, list) : null }
}

/** @throws Problem `not_found` */
export async function getDelivery(deps: ServiceDeps, name: WebhookName, id: string): Promise<DeliveryView> {
  const webhook = await getWebhook(deps, name)
  return viewOf(found(await selectDelivery(deps, webhook.id, id), name, id))
}

/**
 * Sends it again, now, with the same id; its schedule begins anew.
 * @returns It as it was then: whatever sends it may be faster than the answer.
 * @throws Problem `not_found`
 */
export async function redeliver(deps: ServiceDeps, name: WebhookName, id: string): Promise<DeliveryView> {
  const { id: webhookId } = await getWebhook(deps, name)
  const row = await deps.db.transaction().execute(async (db) => {
    await db
      .updateTable('webhook_delivery')
      .set({ state: 'pending', due_at: sql`now()`, tries: 0, delivered_at: null })
      .where('id', '=', id)
      .where('webhook_id', '=', webhookId)
      .execute()
    return selectDelivery({ db }, webhookId, id)
  })
  deps.signals.notify('webhooks')
  return viewOf(found(row, name, id))
}

function found(row: Row | undefined, { name }: WebhookName, id: string): Row {
  if (!row) throw new Problem('not_found', `The webhook \`${name}\` has no delivery ${id}.`)
  return row
}

const selectDelivery = (deps: Pick<ServiceDeps, 'db'>, webhookId: string, id: string): Promise<Row | undefined> =>
  selectDeliveries(deps).where('d.webhook_id', '=', webhookId).where('d.id', '=', id).executeTakeFirst()

const selectDeliveries = ({ db }: Pick<ServiceDeps, 'db'>) =>
  db
    .selectFrom('webhook_delivery as d')
    .select(['d.id', 'd.type', 'd.subject', 'd.seq', 'd.state', 'd.event_at', 'd.delivered_at', 'd.due_at', 'd.data'])
    .select(
      sql<DeliveryAttempt[]>`coalesce((SELECT jsonb_agg(jsonb_build_object('number', a.number, 'at', a.at, 'status', a.status,
        'latencyMs', a.latency_ms, 'error', a.error, 'answer', a.answer) ORDER BY a.number)
        FROM webhook_attempt a WHERE a.delivery_id = d.id), '[]')`.as('attempts'),
    )

type Row = Awaited<ReturnType<ReturnType<typeof selectDeliveries>['execute']>>[number]

const viewOf = (row: Row): DeliveryView => ({
  id: row.id,
  type: row.type,
  subject: row.subject,
  sequence: row.seq,
  state: row.state as DeliveryView['state'],
  eventAt: row.event_at.toISOString(),
  deliveredAt: row.delivered_at?.toISOString() ?? null,
  nextAttemptAt: row.due_at?.toISOString() ?? null,
  data: row.data,
  attempts: row.attempts.map((attempt) => ({ ...attempt, at: new Date(attempt.at).toISOString() })),
})
