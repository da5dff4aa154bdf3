import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Engine } from '../../src/schedulers/docker/engine.ts'
import { labelFilter } from '../../src/schedulers/docker/labels.ts'
import { startBerthProcess, type BerthProcess } from './berth-process.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { eventually } from './eventually.ts'
import { JobClient } from './job-client.ts'

export interface InstallationOptions {
  /** Of the Docker daemon; no scheduler `docker` without it. */
  readonly dockerHost?: string
  /** More of its entry in the schedulers file. */
  readonly docker?: object
  /** Null keeps the queue in Postgres. */
  readonly redisUrl?: string | null
  /** Where Berth finds its database; the test itself goes straight to it. */
  readonly databaseUrl?: (url: string) => string
  readonly database?: TestDatabase
  /** More of its environment. */
  readonly env?: Readonly<Record<string, string>>
}

export interface StartOptions {
  readonly serve?: 'all' | 'api' | 'worker'
  readonly crashPoint?: string
  /** Path of another build's `main.js`. */
  readonly main?: string
  /** Where it listens, and is told that jobs reach it. */
  readonly at?: { readonly host: string; readonly port: number }
  /** More of its own environment. */
  readonly env?: Readonly<Record<string, string>>
}

/** What may be left of a job when it is over, by count; all 0 is what a test wants. */
export interface Leftovers {
  readonly containers: number
  readonly networks: number
  /** Folders of attempts on the local scheduler. */
  readonly folders: number
  readonly processes: number
  readonly openAttempts: number
  readonly claims: number
}

const SECRET_KEYS = `test:${Buffer.alloc(32, 7).toString('base64')}`

/** One Berth installation for tests: its database, its data folder, and as many processes as a test starts. */
export class Installation {
  readonly database: TestDatabase
  readonly client: JobClient
  /** Jobs may bind it; what they write there is the ground truth. */
  readonly truth: string
  readonly dataDir: string
  readonly processes: BerthProcess[] = []
  readonly #options: InstallationOptions
  readonly apiKey = randomBytes(16).toString('hex')

  static async create(options: InstallationOptions = {}): Promise<Installation> {
    const [database, dataDir, truth] = await Promise.all([
      options.database ?? createTestDatabase(),
      mkdtemp(join(tmpdir(), 'berth-inst-')),
      mkdtemp(join(tmpdir(), 'berth-truth-')),
    ])
    await chmod(truth, 0o777)
    const bindRoots = [{ root: truth, readOnly: false }]
    const entry = { kind: 'docker', host: options.dockerHost, bindRoots, ...options.docker }
    const docker = options.dockerHost === undefined ? {} : { docker: entry }
    const schedulers = { local: { kind: 'local', bindRoots }, ...docker }
    await writeFile(join(dataDir, 'schedulers.json'), JSON.stringify({ schedulers }))
    return new Installation(database, { dataDir, truth }, options)
  }

  private constructor(database: TestDatabase, folders: { dataDir: string; truth: string }, options: InstallationOptions) {
    this.database = database
    this.dataDir = folders.dataDir
    this.truth = folders.truth
    this.#options = options
    this.client = new JobClient(() => this.#api()?.address ?? 'http://127.0.0.1:1', this.apiKey)
  }

  /** One more process; the client talks to the last one that lives, does not stand still and serves the API. */
  async start({ serve = 'all', crashPoint, main, at, env: own = {} }: StartOptions = {}): Promise<BerthProcess> {
    const { redisUrl = null, databaseUrl = (url: string) => url, env = {} } = this.#options
    const variables = {
      BERTH_SERVE: serve,
      BERTH_PORT: '0',
      BERTH_DATA_DIR: this.dataDir,
      BERTH_API_KEY: this.apiKey,
      BERTH_SCHEDULERS: join(this.dataDir, 'schedulers.json'),
      BERTH_SECRET_KEYS: SECRET_KEYS,
      BERTH_ALLOW_PRIVATE_URLS: 'true',
      BERTH_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      ...env,
      DATABASE_URL: databaseUrl(this.database.url),
      ...(redisUrl !== null && { REDIS_URL: redisUrl }),
      ...(at && { BERTH_HOST: at.host, BERTH_PORT: String(at.port), BERTH_PUBLIC_URL: `http://${at.host}:${at.port}/` }),
      ...(crashPoint !== undefined && { BERTH_CRASH_POINT: crashPoint }),
      ...own,
    }
    const started = await startBerthProcess(variables, main)
    this.processes.push(started)
    return started
  }

  #api(): BerthProcess | undefined {
    return this.processes.findLast(({ address, alive, standsStill }) => address !== '' && alive() && !standsStill())
  }

  /** `attempt/role/replica` of every start that a job has written down, in order; see `shellJob`. */
  async starts(jobId: string): Promise<string[]> {
    const text = await readFile(join(this.truth, `${jobId}.starts`), 'utf8').catch(() => '')
    return text.split('\n').filter((line) => line !== '')
  }

  async leftovers(): Promise<Leftovers> {
    const { rows } = await this.database.pool.query<Pick<Leftovers, 'openAttempts' | 'claims'>>(`
      SELECT count(*) FILTER (WHERE removed_at IS NULL) AS "openAttempts",
        count(*) FILTER (WHERE owner IS NOT NULL OR lease_until IS NOT NULL) AS claims FROM attempt`)
    const [row] = rows
    if (!row) throw new Error('no counts')
    const folders = await readdir(join(this.dataDir, 'local', 'attempts')).catch(() => [])
    return { ...(await this.#ofDocker()), folders: folders.length, processes: (await this.#jobProcesses()).length, ...row }
  }

  /** Waits until nothing is left of any job. @throws Error with what still is */
  async untilClean(seconds = 20): Promise<void> {
    await eventually(
      () => this.leftovers(),
      (left) => Object.values(left).every((count) => count === 0),
      seconds,
    )
  }

  /** Ends all processes, and removes whatever they have left. */
  async dispose(): Promise<void> {
    await Promise.all(this.processes.map(async (each) => (each.resume(), each.kill())))
    for (const pid of await this.#jobProcesses()) killIfAlive(pid)
    await this.#clearDocker()
    await this.database.drop()
    await rm(this.truth, { recursive: true, force: true })
    await rm(this.dataDir, { recursive: true, force: true })
  }

  /** Processes of local replicas: their supervisors stand in a folder below ours. */
  async #jobProcesses(): Promise<number[]> {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')))
    return pids.filter((_, at) => folders[at]?.startsWith(`${this.dataDir}/`)).map(Number)
  }

  async #ofDocker(): Promise<Pick<Leftovers, 'containers' | 'networks'>> {
    const [containers, networks] = await this.nativeObjects()
    return { containers: containers.length, networks: networks.length }
  }

  /** Ids of the containers and networks that the daemon has of this installation. */
  async nativeObjects(): Promise<[string[], string[]]> {
    const { dockerHost } = this.#options
    if (dockerHost === undefined) return [[], []]
    const filters = labelFilter({ installation: await this.#name() })
    const list = (path: string): Promise<{ Id: string }[]> =>
      new Engine(dockerHost).call({ method: 'GET', path, query: { all: true, filters }, signal: AbortSignal.timeout(20_000) })
    const [containers, networks] = await Promise.all([list('/containers/json'), list('/networks')])
    return [containers.map(({ Id }) => Id), networks.map(({ Id }) => Id)]
  }

  async #clearDocker(): Promise<void> {
    const { dockerHost } = this.#options
    if (dockerHost === undefined) return
    const engine = new Engine(dockerHost)
    const remove = (path: string): Promise<unknown> =>
      engine.find({ method: 'DELETE', path, query: { force: true, v: true }, signal: AbortSignal.timeout(20_000) })
    const [containers, networks] = await this.nativeObjects()
    await Promise.all(containers.map((id) => remove(`/containers/${id}`)))
    for (const id of networks) await remove(`/networks/${id}`)
  }

  async #name(): Promise<string> {
    const { rows } = await this.database.pool.query<{ value: string }>(`SELECT value FROM setting WHERE key = 'installation'`)
    return rows[0]?.value ?? 'none'
  }
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
