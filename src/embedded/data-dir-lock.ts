import { createHash } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { createConnection, createServer, type Server } from 'node:net'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'

export interface DataDirLock {
  release(): Promise<void>
}

/**
 * Makes this process the only Berth on a data folder, until it releases the lock or dies in any way at all: the lock
 * is a Linux abstract socket, which the kernel closes with its process, so nothing stale is ever left to clean up.
 * @param dataDir an existing folder.
 * @throws {EmbeddedPostgresError} `data_dir_in_use`, naming the process that holds it
 */
export async function lockDataDir(dataDir: string): Promise<DataDirLock> {
  const address = `\0berth-${createHash('sha256').update(await realpath(dataDir)).digest('hex').slice(0, 32)}`
  const server = createServer((socket) => socket.on('error', () => {}).end(String(process.pid)))
  if (!(await listen(server, address))) {
    throw new EmbeddedPostgresError(
      'data_dir_in_use',
      `another Berth (process ${await askHolder(address)}) runs on ${dataDir}. Stop it, or set BERTH_DATA_DIR to another folder`,
    )
  }
  server.unref()
  return { release: () => new Promise((resolve) => server.close(() => resolve())) }
}

function listen(server: Server, address: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)))
    server.listen(address, () => resolve(true))
  })
}

/** A holder that is parked does not answer: that must not keep the refusal waiting. */
function askHolder(address: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection(address).setTimeout(500)
    socket.once('data', (pid) => resolve(pid.toString()))
    socket.once('timeout', () => socket.destroy())
    socket.once('error', () => resolve('unknown'))
    socket.once('close', () => resolve('unknown'))
  })
}
