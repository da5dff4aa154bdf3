import type { ServiceDeps } from '../service-deps.ts'

/** How webhooks do, over all projects. */
export interface WebhookFigures {
  /** Messages that are still to be taken. */
  readonly pending: number
  /** How long the one that has been due for the longest time is late, in seconds; 0 if none is. */
  readonly lateSeconds: number
  readonly healthy: number
  readonly failing: number
  readonly disabled: number
}

const FIGURES = `
SELECT d.pending, greatest(0, coalesce(extract(epoch FROM now() - d.oldest), 0))::float8 AS "lateSeconds", w.* FROM (
  SELECT count(*)::int AS pending, min(d.due_at) FILTER (WHERE w.enabled) AS oldest
  FROM webhook_delivery d JOIN webhook w ON w.id = d.webhook_id WHERE d.due_at IS NOT NULL
) d, (
  SELECT count(*) FILTER (WHERE enabled AND failures = 0)::int AS healthy,
    count(*) FILTER (WHERE enabled AND failures > 0)::int AS failing, count(*) FILTER (WHERE NOT enabled)::int AS disabled FROM webhook
) w`

export async function webhookFigures({ pool }: Pick<ServiceDeps, 'pool'>): Promise<WebhookFigures> {
  const { rows } = await pool.query<WebhookFigures>({ name: 'webhook_figures', text: FIGURES })
  if (rows[0] === undefined) throw new Error('the database gave no figures')
  return rows[0]
}
