import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClusterPaths } from './cluster-paths.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import type { ServerLauncher } from './server-launcher.ts'

const MAJOR_VERSION = '17'

/**
 * Makes the cluster if there is none, and gives the password of its superuser `berth`. It appears under its name only
 * when it is whole, so that an interrupted start leaves nothing that looks like one.
 * @throws {EmbeddedPostgresError} `init_failed`, `wrong_version`
 */
export async function prepareCluster(paths: ClusterPaths, launcher: ServerLauncher): Promise<string> {
  const version = await readFile(join(paths.cluster, 'PG_VERSION'), 'utf8').catch(() => null)
  if (version === null) return await makeCluster(paths, launcher)
  if (version.trim() !== MAJOR_VERSION) throw wrongVersion(paths, version.trim())
  return await readFile(paths.password, 'utf8')
}

async function makeCluster(paths: ClusterPaths, launcher: ServerLauncher): Promise<string> {
  const password = randomBytes(24).toString('base64url')
  const draft = `${paths.cluster}.new`
  const draftPassword = `${draft}.password`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  await writeFile(draftPassword, password, { mode: 0o600 })
  const { owner } = launcher
  if (owner !== null) await Promise.all([draft, draftPassword].map((path) => chown(path, owner.uid, owner.gid)))
  await initialise({ folder: draft, passwordFile: draftPassword }, paths.log, launcher)
  await rm(draftPassword)
  await writeFile(paths.password, password, { mode: 0o600 })
  await rename(draft, paths.cluster)
  return password
}

async function initialise(draft: { folder: string; passwordFile: string }, log: string, launcher: ServerLauncher): Promise<void> {
  const child = launcher.start('initdb', [
    ...['--pgdata', draft.folder, '--username', 'berth', '--pwfile', draft.passwordFile],
    ...['--auth', 'scram-sha-256', '--encoding', 'UTF8', '--no-locale', '--no-instructions'],
  ])
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  if (code === 0) return
  throw new EmbeddedPostgresError('init_failed', `initdb ended with ${code ?? signal} and said:\n${await readFile(log, 'utf8')}`)
}

function wrongVersion({ cluster }: ClusterPaths, version: string): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'wrong_version',
    `${cluster} was written by PostgreSQL ${version}, this Berth carries ${MAJOR_VERSION}: move the data with pg_dump of that ` +
      'version, or set BERTH_DATA_DIR to another folder',
  )
}
