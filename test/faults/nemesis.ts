import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { BerthProcess } from '../support/berth-process.ts'
import { eventually } from '../support/eventually.ts'
import type { Installation } from '../support/installation.ts'
import type { MortalPostgres } from '../support/postgres.ts'
import type { PrivateDocker } from '../support/private-docker.ts'
import type { TestRedis } from '../support/redis.ts'
import { CRASH_CASES, POINTS_OF_WEBHOOKS } from './crash-cases.ts'
import type { Random } from '../support/random.ts'

/** What an installation stands on. */
export interface Services {
  readonly redis: TestRedis
  readonly postgres: MortalPostgres
  readonly docker: PrivateDocker
}

/** Lease of 8 s: longer than that, and shorter. */
const PARKED_SECONDS = [2, 6, 12]
const STOP_MS = 15_000
const WORKERS = 2
const POINTS = [...CRASH_CASES.map(({ point }) => point), ...POINTS_OF_WEBHOOKS]

type Act = readonly [name: string, act: () => Promise<void>]

/** Kills, stops, parks and cuts what an installation is made of, in an order that its seeds decide. */
export class Nemesis {
  /** What it has done, by name. */
  readonly done = new Map<string, number>()
  /** How many processes it has ended without a warning. */
  crashes = 0
  /** What it saw that must not be, such as a process that does not end. */
  readonly complaints: string[] = []
  readonly #berth: Installation
  readonly #services: Services
  /** Workers that die by themselves when they come to a point. */
  readonly #doomed = new Set<BerthProcess>()

  constructor(berth: Installation, services: Services) {
    this.#berth = berth
    this.#services = services
  }

  /** Does one thing to a process of Berth, and takes back what must not last. Not twice at once. */
  async strikeProcess(random: Random): Promise<void> {
    await this.#replaceDead()
    await this.#strike(this.#ofProcesses(random), random)
    await this.#replaceDead()
  }

  /** The same to what Berth stands on. */
  strikeService(random: Random): Promise<void> {
    return this.#strike(this.#ofServices(random), random)
  }

  /** Leaves nobody behind who is still to die. */
  async rest(): Promise<void> {
    await Promise.all([...this.#doomed].filter(({ alive }) => alive()).map((worker) => this.#kill(worker)))
    this.#doomed.clear()
    await this.#replaceDead()
  }

  async #strike(acts: readonly Act[], random: Random): Promise<void> {
    const [name, act] = random.oneOf(acts)
    this.#note(name)
    await act()
  }

  #note(name: string): void {
    this.done.set(name, (this.done.get(name) ?? 0) + 1)
  }

  #ofProcesses(random: Random): readonly Act[] {
    return [
      ['worker killed', () => this.#kill(random.oneOf(this.#living('worker')))],
      ['both workers killed', () => this.#killAll()],
      ['worker sent to its death at a point', () => this.#doom(random)],
      ['worker sent to its death at a point', () => this.#doom(random)],
      ['worker parked', () => this.#park(random)],
      ['worker stopped', () => this.#stop(random.oneOf(this.#living('worker')))],
      ['API killed', () => this.#kill(random.oneOf(this.#living('api')))],
    ]
  }

  #ofServices(random: Random): readonly Act[] {
    const { redis, postgres, docker } = this.#services
    const light: readonly Act[] = [
      ['Redis flushed', () => this.#flush()],
      ['Redis killed', () => this.#bounce(redis, random.upTo(4_000))],
      ['connections to PostgreSQL cut', () => this.#cutConnections()],
      ['PostgreSQL killed', () => this.#bounce(postgres, random.upTo(2_000))],
    ]
    // With many containers a daemon takes long to come back: killed too often, it would never be there.
    return [...light, ...light, ['dockerd killed', () => this.#bounce(docker, random.upTo(2_000))]]
  }

  #living(kind: 'api' | 'worker'): BerthProcess[] {
    return this.#berth.processes.filter(({ address, alive }) => alive() && (address !== '') === (kind === 'api'))
  }

  async #kill(process: BerthProcess): Promise<void> {
    this.crashes += 1
    await process.kill()
  }

  async #killAll(): Promise<void> {
    await Promise.all(this.#living('worker').map((worker) => this.#kill(worker)))
  }

  async #doom(random: Random): Promise<void> {
    await this.#kill(random.oneOf(this.#living('worker')))
    this.#doomed.add(await this.#start('worker', random.oneOf(POINTS)))
  }

  /** As whoever runs Berth has its processes restarted. */
  async #replaceDead(): Promise<void> {
    for (const worker of this.#doomed) {
      if (worker.alive()) continue
      this.#doomed.delete(worker)
      this.crashes += 1
      this.#note('worker dead at a point')
    }
    while (this.#living('worker').length < WORKERS) await this.#start('worker')
    if (this.#living('api').length === 0) await this.#start('api')
  }

  /** A start fails while PostgreSQL is away. */
  #start(serve: 'api' | 'worker', crashPoint?: string): Promise<BerthProcess> {
    const start = (): Promise<BerthProcess | null> => this.#berth.start({ serve, ...(crashPoint && { crashPoint }) }).catch(() => null)
    return eventually(start, (started) => started !== null, 180) as Promise<BerthProcess>
  }

  async #park(random: Random): Promise<void> {
    const worker = random.oneOf(this.#living('worker'))
    worker.pause()
    await sleep(random.oneOf(PARKED_SECONDS) * 1_000)
    worker.resume()
  }

  async #stop(worker: BerthProcess): Promise<void> {
    const { end, ms } = await worker.stop()
    const wasDoomed = this.#doomed.has(worker) && end === 'SIGKILL' && ms < STOP_MS
    if (!wasDoomed && (end !== 0 || ms > STOP_MS)) this.complaints.push(`a worker ended with ${end} after ${Math.round(ms)} ms`)
  }

  async #flush(): Promise<void> {
    const redis = new Redis(this.#services.redis.url)
    await redis.flushall()
    redis.disconnect()
  }

  async #bounce(service: { kill(): Promise<void>; start(): Promise<void> }, awayMs: number): Promise<void> {
    this.crashes += 1
    await service.kill()
    await sleep(awayMs)
    await service.start()
  }

  async #cutConnections(): Promise<void> {
    await this.#berth.database.pool.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    )
  }
}
