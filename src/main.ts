#!/usr/bin/env node
import { constants } from 'node:os'
import { ConfigError } from './config/config-error.ts'
import { readConfig } from './config.ts'
import { armCrashPoint } from './crash-point.ts'
import { EmbeddedPostgresError } from './embedded/embedded-postgres-error.ts'
import { createLog } from './log.ts'
import { startBerth } from './start-berth.ts'

/** Exit codes of sysexits(3). */
const EX_CONFIG = 78
const EX_UNAVAILABLE = 69

/** Longer than a drain may take (10 s), shorter than what a supervisor waits before it kills. */
const SHUTDOWN_MS = 15_000
const ECHO_MS = 1_000

async function main(): Promise<void> {
  const config = readConfig()
  const log = createLog(config.logLevel)
  if (config.crashPoint !== null) armCrashPoint(config.crashPoint)
  const starting = startBerth(config, log)
  const exit = (code: number): void => {
    setTimeout(() => process.exit(code), SHUTDOWN_MS).unref()
    void starting.then((berth) => berth.stop()).finally(() => process.exit(code))
  }
  onWishToEnd(() => exit(0))
  const berth = await starting
  await berth.databaseEnded
  log.error('the embedded PostgreSQL has ended by itself; see server.log in the data folder')
  exit(EX_UNAVAILABLE)
}

/**
 * From the first moment on. A second wish ends the process at once, but for one that comes right after the first: that is
 * the same, sent by the terminal to all and passed on by npm.
 */
function onWishToEnd(end: () => void): void {
  let wishedAt: number | null = null
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (wishedAt === null) end()
      else if (performance.now() - wishedAt > ECHO_MS) process.exit(128 + constants.signals[signal])
      wishedAt ??= performance.now()
    })
  }
}

/** A fault of the surroundings is told in words, a bug with its stack. */
function explain(error: unknown): never {
  if (error instanceof ConfigError || error instanceof EmbeddedPostgresError) {
    process.stderr.write(`${error.message}\n`)
    process.exit(error instanceof ConfigError ? EX_CONFIG : EX_UNAVAILABLE)
  }
  createLog('info').fatal({ err: error }, 'Berth could not start')
  process.exit(1)
}

await main().catch(explain)
