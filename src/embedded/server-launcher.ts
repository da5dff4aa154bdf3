import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ClusterPaths } from './cluster-paths.ts'
import { findPostgresBinaries, linkLibraries, type PostgresBinaries } from './postgres-binaries.ts'
import { choosePostgresUser, spawnAs } from './postgres-user.ts'

/** Starts programs of the embedded PostgreSQL: as the right user, with its libraries, output in its log. */
export interface ServerLauncher {
  /** Whom files must belong to that those programs write; null: us. */
  readonly owner: { readonly uid: number; readonly gid: number } | null
  start(program: 'initdb' | 'postgres', args: readonly string[]): ChildProcess
}

/** @throws {EmbeddedPostgresError} `binaries_missing`, `not_traversable`, `wrong_owner` */
export async function createServerLauncher(paths: ClusterPaths): Promise<ServerLauncher> {
  const binaries: PostgresBinaries = findPostgresBinaries()
  const user = choosePostgresUser([dirname(binaries.postgres), dirname(paths.cluster)], paths.cluster)
  const env = { LD_LIBRARY_PATH: await linkLibraries(binaries, paths.libraries), LC_ALL: 'C', TZ: 'UTC' }
  return {
    owner: user.id,
    start(program, args) {
      const output = openSync(paths.log, 'w', 0o600)
      try {
        return spawnAs(user, [binaries[program], ...args], { env, output })
      } finally {
        closeSync(output)
      }
    },
  }
}
