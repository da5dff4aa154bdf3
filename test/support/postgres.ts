import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/embedded/postgres.ts'

export interface TestPostgres {
  /** Of a superuser, for the database `postgres`. */
  readonly url: string
  stop(): Promise<void>
}

/** One that a test may kill: what it has confirmed is there when it is back. */
export interface MortalPostgres extends TestPostgres {
  /** SIGKILL of the server; its children end by themselves. */
  kill(): Promise<void>
  /** At the same address. */
  start(): Promise<void>
}

/** Of no use after a power cut; the end of a process loses nothing. */
const NOT_SYNCED = { fsync: 'off', full_page_writes: 'off', max_connections: '300' }

/** A PostgreSQL of our own in a temporary folder: not durable, for speed. */
export async function startTestPostgres(): Promise<TestPostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-pg-'))
  const server = await startEmbeddedPostgres({ dataDir, log: () => {}, settings: { ...NOT_SYNCED, synchronous_commit: 'off' } })
  return {
    url: server.url,
    async stop() {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export async function startMortalPostgres(): Promise<MortalPostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'berth-pg-'))
  const start = (): Promise<EmbeddedPostgres> => startEmbeddedPostgres({ dataDir, log: () => {}, settings: NOT_SYNCED })
  let server = await start()
  const { url } = server
  return {
    url,
    async kill() {
      const [pid] = (await readFile(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8')).split('\n')
      process.kill(Number(pid), 'SIGKILL')
      await server.ended
    },
    async start() {
      server = await start()
      if (server.url !== url) throw new Error('PostgreSQL has come back at another address')
    },
    async stop() {
      await server.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}
