import type { Logger } from 'pino'
import { keepApiKey } from './api-key.ts'
import { buildApp } from './app.ts'
import type { Config } from './config.ts'
import { createDeps } from './deps.ts'
import { startEmbeddedPostgres } from './embedded/postgres.ts'
import type { ServiceDeps } from './services/service-deps.ts'
import { startWorker } from './workers/start-worker.ts'

export interface Berth {
  /** Where the API listens; null for a process that serves none. */
  readonly address: string | null
  /** Resolves if the embedded PostgreSQL ends without being asked; never where it is not embedded. */
  readonly databaseEnded: Promise<void>
  /** Stops listening, gives back what is held, lets go of the database. */
  stop(): Promise<void>
}

/** Starts what the configuration asks for in this process: database, API, worker, in that order. */
export async function startBerth(config: Config, log: Logger): Promise<Berth> {
  const database =
    config.databaseUrl === null ? await startEmbeddedPostgres({ dataDir: config.dataDir, log: (line) => log.info(line) }) : null
  const parts: { stop(): Promise<void> }[] = database ? [database] : []
  const stop = async (): Promise<void> => {
    for (const part of parts.splice(0).reverse()) {
      await part.stop().catch((error: unknown) => log.warn({ err: error }, 'a part did not stop'))
    }
  }
  try {
    const deps = await createDeps(config, config.databaseUrl ?? database?.url ?? '', log)
    parts.push({ stop: () => deps.close() })
    if (config.serve === 'api') parts.push({ stop: () => deps.queue.close() })
    else parts.push(startWorker(deps.services, deps.queue))
    const api = config.serve === 'worker' ? null : await serve(config, deps.services, log)
    if (api) parts.push(api)
    let stopping = false
    const ended = new Promise<void>((resolve) => void database?.ended.then(() => stopping || resolve()))
    return { address: api?.address ?? null, databaseEnded: ended, stop: () => ((stopping = true), stop()) }
  } catch (error) {
    await stop()
    throw error
  }
}

async function serve(config: Config, services: ServiceDeps, log: Logger): Promise<{ address: string; stop(): Promise<void> }> {
  const kept = config.apiKey === null ? await keepApiKey(config.dataDir) : null
  const app = await buildApp({ ...services, apiKey: config.apiKey ?? kept?.key ?? '' })
  const address = await app.listen({ host: config.host, port: config.port })
  log.info({ address, documentation: `${address}/docs` }, 'Berth listens')
  if (kept) log.info({ path: kept.path }, 'the API key is kept there: send it as Authorization: Bearer')
  return { address, stop: () => app.close() }
}
