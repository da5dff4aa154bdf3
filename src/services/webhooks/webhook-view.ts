import type { Selectable } from 'kysely'
import type { webhook as WebhookTable } from '../../db/schema.ts'
import type { Signing } from '../../domain/webhooks/signature.ts'

export type WebhookRow = Selectable<WebhookTable>

/** A webhook as the API shows it: neither its key nor what its headers say. Times are RFC 3339 UTC. */
export interface WebhookView {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly url: string
  readonly events: readonly string[]
  readonly labelSelector: Readonly<Record<string, string>>
  readonly scope: 'all' | 'named'
  readonly order: 'none' | 'per_job'
  readonly signing: Signing
  readonly headerNames: readonly string[]
  readonly enabled: boolean
  readonly disabledReason: string | null
  readonly health: WebhookHealth
  readonly createdAt: string
  readonly updatedAt: string
}

export interface WebhookHealth {
  /** In a row, by now. */
  readonly failures: number
  readonly failingSince: string | null
  /** Nothing is sent until then, but for a try a minute. */
  readonly pausedUntil: string | null
}

export const webhookViewOf = (row: WebhookRow): WebhookView => ({
  id: row.id,
  name: row.name,
  version: row.version,
  url: row.url,
  events: row.events,
  labelSelector: row.label_selector as Record<string, string>,
  scope: row.scope as WebhookView['scope'],
  order: row.delivery_order as WebhookView['order'],
  signing: row.signing as Signing,
  headerNames: row.header_names,
  enabled: row.enabled,
  disabledReason: row.disabled_why,
  health: {
    failures: row.failures,
    failingSince: row.failing_since?.toISOString() ?? null,
    pausedUntil: row.paused_until?.toISOString() ?? null,
  },
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
})
