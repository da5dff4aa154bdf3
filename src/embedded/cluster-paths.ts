import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { makeDirectory } from '../make-directory.ts'

/** Where each part of the embedded PostgreSQL lies, all below `<data folder>/postgres`. */
export interface ClusterPaths {
  readonly cluster: string
  /** Links to the shared libraries. */
  readonly libraries: string
  /** Password of the superuser, mode 0600. */
  readonly password: string
  /** Output of initdb and of the server. */
  readonly log: string
  readonly socketDir: string
}

/** Makes the folder `postgres` below an existing data folder. It lets pass, so that the server's user reaches its own parts. */
export async function makeClusterPaths(dataDir: string): Promise<ClusterPaths> {
  const root = join(await realpath(dataDir), 'postgres')
  await makeDirectory(root, 0o711)
  return {
    cluster: join(root, 'data'),
    libraries: join(root, 'lib'),
    password: join(root, 'password'),
    log: join(root, 'server.log'),
    socketDir: join(root, 'data'),
  }
}
