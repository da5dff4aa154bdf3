/**
 * - `binaries_missing`: npm left the optional package with PostgreSQL out
 * - `data_dir_in_use`: another Berth runs on the same data folder
 * - `not_traversable`: the unprivileged user that PostgreSQL runs as cannot reach a folder
 * - `wrong_owner`: the cluster belongs to another user and we are not root
 * - `wrong_version`: the cluster was written by another major version
 * - `init_failed`, `start_failed`: PostgreSQL itself said no; the message ends with its own words
 */
export type EmbeddedPostgresErrorCode =
  | 'binaries_missing'
  | 'data_dir_in_use'
  | 'not_traversable'
  | 'wrong_owner'
  | 'wrong_version'
  | 'init_failed'
  | 'start_failed'

/** The embedded PostgreSQL cannot be had. The message is for the person at the terminal: what is wrong and what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError'
  readonly code: EmbeddedPostgresErrorCode

  constructor(code: EmbeddedPostgresErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options)
    this.code = code
  }
}
