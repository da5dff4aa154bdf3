// Starts an embedded PostgreSQL on the folder that is given, says so, and holds it: a process for tests to kill.
import { startEmbeddedPostgres } from '../../src/embedded/postgres.ts'

const [dataDir = ''] = process.argv.slice(2)
await startEmbeddedPostgres({ dataDir, log: () => {} })
console.log('ready')
setInterval(() => {}, 60_000)
