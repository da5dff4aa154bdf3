import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'

/** Where a server listens: its settings, and how a client's URL names that. */
export interface ServerAddress {
  readonly settings: Readonly<Record<string, string>>
  url(user: string, password: string): string
}

/** `sockaddr_un` holds 108 bytes with the final NUL. */
const LONGEST_SOCKET_PATH = 107

/** A Unix socket in this folder, or where its path would be too long a free port on loopback. */
export async function chooseServerAddress(socketDir: string): Promise<ServerAddress> {
  if (Buffer.byteLength(join(socketDir, '.s.PGSQL.5432')) <= LONGEST_SOCKET_PATH) {
    return {
      settings: { listen_addresses: '', unix_socket_directories: socketDir, port: '5432' },
      url: (user, password) => `postgresql://${user}:${password}@localhost/postgres?host=${encodeURIComponent(socketDir)}`,
    }
  }
  const port = await findFreePort()
  return {
    settings: { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port) },
    url: (user, password) => `postgresql://${user}:${password}@127.0.0.1:${port}/postgres`,
  }
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
