import fp from 'fastify-plugin'
import type { WebhookFigures } from '../services/webhooks/webhook-figures.ts'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

declare module 'fastify' {
  interface FastifyInstance {
    metrics: {
      /** Everything that is measured now, in the text format of Prometheus. */
      read(): Promise<{ contentType: string; text: string }>
    }
  }
}

export interface MetricsOptions {
  /** Connections to the database. */
  readonly pool: { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number }
  /** Asked at each reading. */
  readonly webhooks: () => Promise<WebhookFigures>
}

const BUCKETS_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]

/** Those of the process can be collected once only, whatever number of apps it has. */
const ofProcess = new Registry()
let collecting = false

/** Counts and times every request by route, and shows connections and streams. */
export const metrics = fp<MetricsOptions>(
  async (app, { pool, webhooks }) => {
    if (!collecting) collectDefaultMetrics({ register: ofProcess })
    collecting = true
    const registry = new Registry()
    const registers = [registry]
    const duration = new Histogram({
      name: 'berth_http_request_duration_seconds',
      help: 'Time until an answer was complete; for a stream until its end.',
      labelNames: ['method', 'route', 'status'],
      buckets: BUCKETS_SECONDS,
      registers,
    })
    const gauge = (name: string, help: string, read: () => number): Gauge =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read())
        },
      })
    gauge('berth_http_streams', 'Streams that are being written.', () => app.openStreams.size)
    gauge('berth_db_connections', 'Connections to the database.', () => pool.totalCount)
    gauge('berth_db_connections_idle', 'Connections to the database that nobody uses.', () => pool.idleCount)
    gauge('berth_db_connections_waiting', 'Requests that wait for a connection to the database.', () => pool.waitingCount)
    addWebhookGauges(registry, webhooks)
    app.addHook('onResponse', ({ method, routeOptions }, reply, done) => {
      const labels = { method, route: routeOptions.url ?? 'unknown', status: String(reply.statusCode) }
      duration.observe(labels, reply.elapsedTime / 1000)
      done()
    })
    const all = Registry.merge([ofProcess, registry])
    app.decorate('metrics', { read: async () => ({ contentType: all.contentType, text: await all.metrics() }) })
  },
  { name: 'metrics', dependencies: ['open-streams'] },
)

/** One question to the database for all of them. While it is away they keep what they last said. */
function addWebhookGauges(registry: Registry, read: () => Promise<WebhookFigures>): void {
  let asked: Promise<WebhookFigures | null> | null = null
  const figures = (): Promise<WebhookFigures | null> =>
    (asked ??= read()
      .catch(() => null)
      .finally(() => setImmediate(() => (asked = null))))
  const gauge = (name: string, help: string, show: (gauge: Gauge, figures: WebhookFigures) => void, labelNames: string[] = []): Gauge =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        const now = await figures()
        if (now !== null) show(this, now)
      },
    })
  gauge('berth_webhook_pending', 'Messages that are still to be taken.', (one, { pending }) => one.set(pending))
  gauge('berth_webhook_late_seconds', 'How long the message that is due for the longest time is late.', (one, { lateSeconds }) =>
    one.set(lateSeconds),
  )
  const byState = (one: Gauge, now: WebhookFigures): void => {
    for (const state of ['healthy', 'failing', 'disabled'] as const) one.set({ state }, now[state])
  }
  gauge('berth_webhook_endpoints', 'Webhooks, by how their receivers do.', byState, ['state'])
}
