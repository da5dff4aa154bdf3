import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Pool } from 'pg'
import type { DB } from '../db/schema.ts'
import type { Signals } from '../db/signals.ts'
import type { WebhookAccess } from '../outbound/webhook-access.ts'
import type { Stores } from '../stores/stores.ts'
import type { KeyRing } from './secrets/envelope.ts'
import type { Scheduler } from '../schedulers/scheduler.ts'

/** What every service needs; made once, in deps.ts. */
export interface ServiceDeps {
  /** For the hot statements of db/statements, each one prepared SQL. */
  readonly pool: Pool
  /** The same connections, for queries that are put together. */
  readonly db: Kysely<DB>
  /** By configured name. */
  readonly schedulers: ReadonlyMap<string, Scheduler>
  /** Opens the bytes of drives. */
  readonly stores: Stores
  /** What seals and opens secrets; empty where the operator gave none. */
  readonly keyRing: KeyRing
  /** Names of drives that may use the worker's own credentials; `*` for all. */
  readonly ambientDrives: readonly string[]
  /** Of one stream of a replica; null for no limit. */
  readonly maxLogBytes: number | null
  /** Short id of this installation. */
  readonly installation: string
  /** Where webhooks may lead. */
  readonly webhookAccess: WebhookAccess
  /** Signs the tokens that jobs use the API with. */
  readonly jobTokenKey: string
  /** "Something changed, look again." */
  readonly signals: Signals
  readonly log: Logger
}
