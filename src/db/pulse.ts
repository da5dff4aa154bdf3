import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { Socket } from 'node:net'
import pg from 'pg'
import type { Logger } from 'pino'

const BEAT_MS = 250
/** Longer than a busy database keeps such a question waiting. With the beat it makes less than 2 s. */
const ANSWER_MS = 1_500

/** Finds out that the database says nothing more, and lets go of whoever waits for its answer. */
export interface Pulse {
  /** This connection, too, is cut when the database is silent. */
  guard(client: pg.Client): void
  close(): Promise<void>
}

type Beat = 'alive' | 'broken' | 'silent'

/** Its SQLSTATE is `connection_failure`. */
class DatabaseSilent extends Error {
  override readonly name = 'DatabaseSilent'
  readonly code = '08006'
  constructor() {
    super('the database says nothing')
  }
}

/**
 * Asks a connection of its own four times a second. Where no answer comes, although no connection has ended, it cuts those of
 * the pool, and the pool gives out none until the database answers again: who waits learns of it within 2 s, and not after the
 * longest time that a statement may take.
 */
export function watchPulse(pool: pg.Pool, connectionString: string, log: Logger): Pulse {
  const silence = new Silence(pool)
  const stop = new AbortController()
  const watching = watch(connectionString, stop.signal, (beat) => {
    if (beat === 'silent' && !silence.reigns) log.warn('the database says nothing: its connections are cut until it answers')
    if (beat === 'silent') silence.begin()
    else silence.end()
  })
  return {
    guard: (client) => silence.guard(client),
    async close() {
      stop.abort()
      await watching
      silence.end()
    },
  }
}

async function watch(connectionString: string, stop: AbortSignal, told: (beat: Beat) => void): Promise<void> {
  let client: pg.Client | null = null
  while (!stop.aborted) {
    const asked: pg.Client = client ?? newClient(connectionString)
    const beat: Beat = await Promise.race([heard(client ? asked.query('SELECT 1') : asked.connect()), late(stop)])
    client = beat === 'alive' ? asked : null
    if (beat !== 'alive') cut(asked)
    if (!stop.aborted) told(beat)
    await sleep(BEAT_MS, undefined, { signal: stop, ref: false }).catch(() => undefined)
  }
  if (client) cut(client)
}

function newClient(connectionString: string): pg.Client {
  const client = new pg.Client({ connectionString, application_name: 'berth-pulse' })
  client.on('error', () => undefined)
  return client
}

const heard = (answer: Promise<unknown>): Promise<Beat> =>
  answer.then(
    () => 'alive',
    () => 'broken',
  )

/** Where this process itself stood still, what has arrived meanwhile is taken in first. */
async function late(stop: AbortSignal): Promise<Beat> {
  await sleep(ANSWER_MS, undefined, { signal: stop, ref: false }).catch(() => undefined)
  return turn<Beat>('silent')
}

/** As if the other side had. `end` would wait for that side. */
function cut(client: pg.Client | pg.PoolClient): void {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.destroy()
}

class Silence {
  reigns = false
  readonly #clients = new Set<pg.Client | pg.PoolClient>()
  readonly #waiting = new Set<(error: Error) => void>()

  constructor(pool: pg.Pool) {
    pool.on('connect', (client) => this.guard(client))
    this.#standBefore(pool)
  }

  guard(client: pg.Client | pg.PoolClient): void {
    this.#clients.add(client)
    client.once('end', () => this.#clients.delete(client))
  }

  begin(): void {
    this.reigns = true
    for (const client of this.#clients) cut(client)
    for (const refuse of this.#waiting) refuse(new DatabaseSilent())
    this.#waiting.clear()
  }

  end(): void {
    this.reigns = false
  }

  /** The pool's own queries take their connection by `connect` as well, with a callback. */
  #standBefore(pool: pg.Pool): void {
    type Taken = (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void
    const connect = pool.connect.bind(pool) as (taken: Taken) => void
    const take = (taken: Taken): void => {
      if (this.reigns) return taken(new DatabaseSilent(), undefined, () => undefined)
      let refused = false
      const refuse = (error: Error): void => {
        refused = true
        taken(error, undefined, () => undefined)
      }
      this.#waiting.add(refuse)
      connect((error, client, done) => {
        this.#waiting.delete(refuse)
        if (!refused) taken(error, client, done)
        else if (client) done()
      })
    }
    const promised = (): Promise<pg.PoolClient> =>
      new Promise((resolve, reject) => take((error, client) => (client ? resolve(client) : reject(error ?? new DatabaseSilent()))))
    pool.connect = ((taken?: Taken) => (taken ? take(taken) : promised())) as typeof pool.connect
  }
}
