import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'

/** Who PostgreSQL runs as: it refuses root, so that under root it is an unprivileged user. */
export interface PostgresUser {
  /** Null: the user that we are. */
  readonly id: { readonly uid: number; readonly gid: number } | null
  /** setpriv of util-linux, or null where it is missing. */
  readonly setpriv: string | null
  /** A folder on the way is closed to that user, who therefore gets the right to pass and read (CAP_DAC_READ_SEARCH). */
  readonly passesClosedFolders: boolean
}

export interface Launch {
  readonly env: Readonly<Record<string, string>>
  /** File descriptor that takes stdout and stderr. */
  readonly output: number
}

const NOBODY = { uid: 65534, gid: 65534 }
const SETPRIV = '/usr/bin/setpriv'

/**
 * @param paths what that user must be able to reach: binaries and data.
 * @param clusterDir if it exists, its owner is who PostgreSQL has to be.
 * @throws {EmbeddedPostgresError} `not_traversable`, `wrong_owner`
 */
export function choosePostgresUser(paths: readonly string[], clusterDir: string): PostgresUser {
  const setpriv = existsSync(SETPRIV) ? SETPRIV : null
  const owner = existsSync(clusterDir) ? statSync(clusterDir) : null
  const ourUid = process.getuid?.()
  if (ourUid !== 0) {
    if (owner !== null && owner.uid !== ourUid) throw wrongOwner(clusterDir, owner.uid)
    return { id: null, setpriv, passesClosedFolders: false }
  }
  const id = owner === null || owner.uid === 0 ? NOBODY : { uid: owner.uid, gid: owner.gid }
  const closed = paths.map((path) => findClosedFolder(path, id.uid)).find((folder) => folder !== null)
  if (closed !== undefined && setpriv === null) throw notTraversable(closed, id.uid)
  return { id, setpriv, passesClosedFolders: closed !== undefined }
}

/**
 * Starts a program as that user, in a session of its own so that Ctrl-C at a terminal reaches Berth alone, and, where
 * setpriv is there, with SIGINT (PostgreSQL's fast shutdown) as its fate when Berth dies without a farewell.
 */
export function spawnAs(user: PostgresUser, command: readonly string[], { env, output }: Launch): ChildProcess {
  const [program = '', ...args] = user.setpriv === null ? command : [user.setpriv, ...setprivArgs(user), '--', ...command]
  const identity = user.setpriv === null ? (user.id ?? {}) : {}
  return spawn(program, args, { ...identity, env, detached: true, cwd: '/', stdio: ['ignore', output, output] })
}

/** The secure bit makes access(2), by which PostgreSQL looks for its own programs, see the capability too. */
const PASS_CLOSED_FOLDERS = [
  ...['--inh-caps', '+dac_read_search', '--ambient-caps', '+dac_read_search'],
  ...['--securebits', '+no_setuid_fixup'],
]

function setprivArgs({ id, passesClosedFolders }: PostgresUser): string[] {
  return [
    '--pdeathsig', 'INT',
    ...(id === null ? [] : ['--reuid', String(id.uid), '--regid', String(id.gid), '--clear-groups']),
    ...(passesClosedFolders ? PASS_CLOSED_FOLDERS : []),
  ]
}

function findClosedFolder(path: string, uid: number): string | null {
  const parent = dirname(path)
  const above = parent === path ? null : findClosedFolder(parent, uid)
  if (above !== null) return above
  const stat = statSync(path)
  const mayEnter = (stat.mode & 0o001) !== 0 || (stat.uid === uid && (stat.mode & 0o100) !== 0)
  return mayEnter ? null : path
}

function wrongOwner(clusterDir: string, uid: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'wrong_owner',
    `${clusterDir} belongs to user ${uid}: start Berth as that user or as root, or set BERTH_DATA_DIR to another folder`,
  )
}

function notTraversable(folder: string, uid: number): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    'not_traversable',
    `PostgreSQL does not run as root but as user ${uid}, who cannot pass ${folder}. Run chmod o+x ${folder}, install util-linux ` +
      '(setpriv), start Berth as another user, or set BERTH_DATA_DIR to a folder that everybody can pass, such as /var/lib/berth',
  )
}
