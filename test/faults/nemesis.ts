import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { BerthProcess } from '../support/berth-process.ts'
import type { Installation } from '../support/installation.ts'
import type { TestRedis } from '../support/redis.ts'
import type { Random } from './random.ts'

/** Lease of 8 s: longer than that, and shorter. */
const PARKED_SECONDS = [2, 6, 12]
const STOP_MS = 15_000

/** Kills, stops, parks and cuts what an installation is made of, in an order that its seed decides. */
export class Nemesis {
  /** What it has done, by name. */
  readonly done = new Map<string, number>()
  /** What it saw that must not be, such as a process that does not end. */
  readonly complaints: string[] = []
  readonly #berth: Installation
  readonly #redis: TestRedis
  readonly #random: Random

  constructor(berth: Installation, redis: TestRedis, random: Random) {
    this.#berth = berth
    this.#redis = redis
    this.#random = random
  }

  /** Does one thing, and takes back what must not last. */
  async strike(): Promise<void> {
    const [name, act] = this.#random.oneOf(this.#acts)
    this.done.set(name, (this.done.get(name) ?? 0) + 1)
    await act()
  }

  readonly #acts: readonly (readonly [string, () => Promise<void>])[] = [
    ['worker killed', () => this.#replace('worker', (worker) => worker.kill())],
    ['worker killed', () => this.#replace('worker', (worker) => worker.kill())],
    ['both workers killed', () => this.#replaceAll('worker')],
    ['worker parked', () => this.#park()],
    ['worker stopped', () => this.#replace('worker', (worker) => this.#stop(worker))],
    ['API killed', () => this.#replace('api', (api) => api.kill())],
    ['Redis flushed', () => this.#flush()],
    ['Redis killed', () => this.#bounceRedis()],
    ['connections to PostgreSQL cut', () => this.#cutConnections()],
  ]

  #living(kind: 'api' | 'worker'): BerthProcess[] {
    return this.#berth.processes.filter(({ address, alive }) => alive() && (address !== '') === (kind === 'api'))
  }

  async #replace(kind: 'api' | 'worker', end: (process: BerthProcess) => Promise<void>): Promise<void> {
    await end(this.#random.oneOf(this.#living(kind)))
    await this.#berth.start({ serve: kind })
  }

  async #replaceAll(kind: 'worker'): Promise<void> {
    const living = this.#living(kind)
    await Promise.all(living.map((process) => process.kill()))
    await Promise.all(living.map(() => this.#berth.start({ serve: kind })))
  }

  async #park(): Promise<void> {
    const worker = this.#random.oneOf(this.#living('worker'))
    worker.pause()
    await sleep(this.#random.oneOf(PARKED_SECONDS) * 1_000)
    worker.resume()
  }

  async #stop(worker: BerthProcess): Promise<void> {
    const { end, ms } = await worker.stop()
    if (end !== 0 || ms > STOP_MS) this.complaints.push(`a worker ended with ${end} after ${Math.round(ms)} ms`)
  }

  async #flush(): Promise<void> {
    const redis = new Redis(this.#redis.url)
    await redis.flushall()
    redis.disconnect()
  }

  async #bounceRedis(): Promise<void> {
    await this.#redis.kill()
    await sleep(this.#random.upTo(4_000))
    await this.#redis.start()
  }

  async #cutConnections(): Promise<void> {
    await this.#berth.database.pool.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
  }
}
