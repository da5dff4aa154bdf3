import { NEW_MESSAGE_ID } from '../../db/statements/fan-out.ts'
import { Problem } from '../../domain/problem.ts'
import { TEST_EVENT } from '../../domain/webhooks/event-types.ts'
import type { ServiceDeps } from '../service-deps.ts'
import { getDelivery, type DeliveryView } from './deliveries.ts'
import { getWebhook, type WebhookName } from './webhooks.ts'

const POLL_MS = 200

/** Numbered like the events of any other subject, under the webhook's row. */
const SEND = `
WITH locked AS (SELECT id, name FROM webhook WHERE id = $1 FOR UPDATE)
INSERT INTO webhook_delivery (id, webhook_id, type, subject, seq, data)
SELECT ${NEW_MESSAGE_ID}, id, $2, id, next.seq, jsonb_build_object('webhookId', id, 'webhook', name, 'sequence', next.seq)
FROM locked, LATERAL (
  SELECT coalesce(max(seq), 0) + 1 AS seq FROM webhook_delivery WHERE webhook_id = locked.id AND subject = locked.id AND type = $2
) next
RETURNING id`

/**
 * Sends a message that means nothing, and waits for its first try.
 *
 * @throws Problem `not_found`; `wrong_state` for a webhook that is not enabled
 */
export async function testWebhook(
  deps: ServiceDeps,
  name: WebhookName,
  { waitSeconds, signal }: { waitSeconds: number; signal: AbortSignal },
): Promise<DeliveryView> {
  const webhook = await getWebhook(deps, name)
  if (!webhook.enabled)
    throw new Problem('wrong_state', `The webhook \`${name.name}\` is not enabled: PATCH it with \`enabled: true\` first.`)
  const { rows } = await deps.pool.query<{ id: string }>(SEND, [webhook.id, TEST_EVENT])
  const id = rows[0]?.id ?? ''
  deps.signals.notify('webhooks')
  const end = performance.now() + waitSeconds * 1000
  const bell = deps.signals.listen('webhooks')
  try {
    for (;;) {
      const delivery = await getDelivery(deps, name, id)
      if (delivery.attempts.length > 0 || performance.now() >= end || signal.aborted) return delivery
      await bell.next(POLL_MS, signal)
    }
  } finally {
    bell.close()
  }
}
