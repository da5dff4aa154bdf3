/** One thing wrong with the configuration. */
export interface ConfigFault {
  /** Variable, or variable and place in the file that it names: `BERTH_SCHEDULERS /schedulers/docker/host`. */
  readonly name: string
  /** What is wrong and what would be right; never the value of a secret. */
  readonly detail: string
}

/** The configuration cannot be used. Its message names every fault, one on a line. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(({ name, detail }) => `${name}: ${detail}`).join('\n'))
    this.faults = faults
  }
}
