import type { BerthProcess } from '../support/berth-process.ts'
import { eventually } from '../support/eventually.ts'
import { Installation } from '../support/installation.ts'

/** An installation with a spare Berth, which stands still while another is at work and relieves it when that is dead. */
export class Relief {
  readonly berth: Installation
  readonly #spare: BerthProcess

  static async create(dockerHost: string): Promise<Relief> {
    const berth = await Installation.create({ dockerHost })
    return new Relief(berth, await berth.start())
  }

  private constructor(berth: Installation, spare: BerthProcess) {
    this.berth = berth
    this.#spare = spare
  }

  /** Starts a Berth that will meet its crash point while the spare stands still. */
  async arm(crashPoint: string): Promise<BerthProcess> {
    this.#spare.pause()
    await this.berth.database.pool.query('DELETE FROM lease')
    return this.berth.start({ crashPoint })
  }

  relieve(): void {
    this.#spare.resume()
  }

  /** In how many milliseconds from now the spare has taken over what the dead one held. */
  async takeover(jobId: string): Promise<number> {
    const from = performance.now()
    const ask = async (): Promise<{ epoch: number; over: boolean }> => {
      const { rows } = await this.berth.database.pool.query<{ epoch: number; over: boolean }>(
        'SELECT max(epoch) AS epoch, bool_and(removed_at IS NOT NULL) AS over FROM attempt WHERE job_id = $1',
        [jobId],
      )
      return rows[0] ?? { epoch: 0, over: false }
    }
    const { epoch } = await ask()
    await eventually(ask, (now) => now.epoch > epoch || now.over, 30)
    return performance.now() - from
  }
}

/** Installations that wait for the next test of this file: starting one costs more than most tests. */
export class ReliefPool {
  readonly #dockerHost: string
  readonly #free: Relief[] = []
  readonly #all: Relief[] = []

  constructor(dockerHost: string) {
    this.#dockerHost = dockerHost
  }

  /** A test that fails does not give its installation back: what it left must not fail another, nor its connections. */
  async use(act: (relief: Relief) => Promise<void>): Promise<void> {
    const relief = this.#free.pop() ?? (await Relief.create(this.#dockerHost))
    if (!this.#all.includes(relief)) this.#all.push(relief)
    try {
      await act(relief)
    } catch (error) {
      await relief.berth.dispose()
      this.#all.splice(this.#all.indexOf(relief), 1)
      throw error
    }
    this.#free.push(relief)
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#all.map(({ berth }) => berth.dispose()))
  }
}
