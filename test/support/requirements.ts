import { appendFileSync, existsSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { expect } from 'vitest'

/** Says whether something that a test file needs is there; `describe.skipIf(need.missing)` leaves its suites out. */
export interface Requirement {
  readonly missing: boolean
}

/** A PostgreSQL: superuser's URL. Most tests want `createTestDatabase` instead, which asks for this itself. */
export function requirePostgres(): Requirement & { readonly url: string } {
  const url = process.env['BERTH_TEST_DATABASE_URL'] ?? ''
  const why = process.env['BERTH_TEST_DATABASE_URL_MISSING'] ?? 'BERTH_TEST_DATABASE_URL is not set'
  return { url, missing: isMissing(url === '', 'PostgreSQL', why) }
}

/** A Redis shared by all test files: use key prefixes of your own, and `startTestRedis` for one to kill. */
export function requireRedis(): Requirement & { readonly url: string } {
  const url = process.env['BERTH_TEST_REDIS_URL'] ?? ''
  const why = process.env['BERTH_TEST_REDIS_URL_MISSING'] ?? 'redis-server is not installed'
  return { url, missing: isMissing(url === '', 'Redis', why) }
}

/** A Docker daemon with the image `busybox:latest`: `host` such as `unix:///var/run/docker.sock`. */
export function requireDocker(): Requirement & { readonly host: string } {
  const host = process.env['BERTH_TEST_DOCKER'] ?? ''
  const why = process.env['BERTH_TEST_DOCKER_MISSING'] ?? 'BERTH_TEST_DOCKER is not set'
  return { host, missing: isMissing(host === '', 'Docker', why) }
}

/** Debian's `docker-registry`: path of the program. */
export function requireRegistry(): Requirement & { readonly program: string } {
  const program = process.env['BERTH_TEST_REGISTRY'] ?? ''
  return { program, missing: isMissing(program === '', 'a container registry', 'docker-registry is not installed') }
}

/** A real S3 server for tests, versitygw: path of the program. */
export function requireS3Server(): Requirement & { readonly program: string } {
  const program = process.env['BERTH_TEST_S3_SERVER'] ?? ''
  const why = 'versitygw is not built: script/test does it where there is Go'
  return { program, missing: isMissing(program === '', 'an S3 server', why) }
}

/** A second S3 server, MinIO: path of the program. */
export function requireMinio(): Requirement & { readonly program: string } {
  const program = process.env['BERTH_TEST_MINIO'] ?? ''
  return { program, missing: isMissing(program === '', 'MinIO', 'minio is not built: script/test does it where there is Go') }
}

/** Microsoft's emulator of Azure Blob Storage: path of its script. */
export function requireAzurite(): Requirement & { readonly program: string } {
  const program = process.env['BERTH_TEST_AZURITE'] ?? ''
  return { program, missing: isMissing(program === '', 'Azurite', 'it is not installed: script/test does it') }
}

/** The stock library that verifies webhooks in Python: an interpreter that has it. */
export function requireStandardWebhooks(): Requirement & { readonly python: string } {
  const python = process.env['BERTH_TEST_PYTHON'] ?? ''
  return {
    python,
    missing: isMissing(python === '', 'standardwebhooks for Python', 'it is not installed: script/test does it where there is Python'),
  }
}

/** rclone, and what it mounts with: path of the program. Needs root, as the daemon does. */
export function requireRclone(): Requirement & { readonly program: string } {
  const program = process.env['BERTH_TEST_RCLONE'] ?? ''
  const why = 'rclone is not built: script/test does it where there is Go'
  return { program, missing: isMissing(program === '', 'rclone', why) || requireProgram('fusermount3').missing }
}

export function requireRoot(): Requirement {
  return { missing: isMissing(process.getuid?.() !== 0, 'root', 'the tests do not run as root') }
}

/** A program in PATH, such as `bwrap`. */
export function requireProgram(name: string): Requirement {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  return { missing: isMissing(!folders.some((folder) => existsSync(join(folder, name))), name, `${name} is not installed`) }
}

/** With CI=true nothing may be left out; else the file and the reason are kept for the end of script/test. */
function isMissing(missing: boolean, what: string, why: string): boolean {
  if (!missing) return false
  if (process.env['CI'] === 'true') throw new Error(`this suite needs ${what}: ${why}`)
  const file = relative(process.cwd(), expect.getState().testPath ?? 'a suite')
  const list = process.env['BERTH_TEST_LEFT_OUT']
  if (list) appendFileSync(list, `${file}: needs ${what} (${why})\n`)
  else console.warn(`left out: ${file}: needs ${what} (${why})`)
  return true
}
