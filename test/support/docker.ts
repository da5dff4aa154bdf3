import { randomBytes } from 'node:crypto'
import type { DockerContainer } from '../../src/schedulers/docker/docker-request.ts'
import { Engine } from '../../src/schedulers/docker/engine.ts'
import { labelFilter } from '../../src/schedulers/docker/labels.ts'
import { createDockerScheduler } from '../../src/schedulers/docker/docker-scheduler.ts'
import type { DockerSchedulerOptions } from '../../src/schedulers/docker/docker-scheduler.ts'
import type { SchedulerUnderTest } from '../contract/scheduler-under-test.ts'

const signal = new AbortController().signal

export interface DockerUnderTest extends SchedulerUnderTest {
  /** Straight to the daemon, for what a test wants to see or to do behind the scheduler's back. */
  readonly engine: Engine
  /** What a claim leaves that died after its create. */
  readonly create: (container: Pick<DockerContainer, 'name' | 'create'>) => Promise<void>
  readonly start: (name: string) => Promise<void>
  readonly containers: () => Promise<readonly { readonly Id: string; readonly Names: readonly string[]; readonly State: string }[]>
}

/** A Docker scheduler that allows nothing but what is said. */
export const dockerScheduler = (options: Pick<DockerSchedulerOptions, 'installation' | 'host'> & Partial<DockerSchedulerOptions>) =>
  createDockerScheduler({
    bindRoots: [],
    devices: [],
    registries: {},
    driveRoot: null,
    apiUrl: null,
    rclone: null,
    maxMounts: 32,
    maxStageBytes: null,
    stageCacheBytes: 1e9,
    ...options,
  })

/** A Docker scheduler of an installation of its own. @param host of `requireDocker()` */
export function createDockerUnderTest(host: string, options: Partial<DockerSchedulerOptions> = {}): DockerUnderTest {
  const engine = new Engine(host)
  const installation = `t${randomBytes(4).toString('hex')}`
  const filters = labelFilter({ installation })
  const volumes: string[] = []
  const scheduler = dockerScheduler({ installation, host, ...options })
  const containers: DockerUnderTest['containers'] = () =>
    engine.call({ method: 'GET', path: '/containers/json', query: { all: true, filters }, signal })
  const networks = (): Promise<{ Id: string }[]> => engine.call({ method: 'GET', path: '/networks', query: { filters }, signal })
  return {
    engine,
    create: async ({ name, create: body }) =>
      void (await engine.call({ method: 'POST', path: '/containers/create', query: { name }, body, signal })),
    start: async (name) => void (await engine.call({ method: 'POST', path: `/containers/${name}/start`, signal })),
    scheduler,
    installation,
    containers,
    newVolume: () => {
      const name = `berth-${installation}-${volumes.length}`
      volumes.push(name)
      return name
    },
    leftovers: async () => ({ containers: (await containers()).length, networks: (await networks()).length }),
    dispose: async () => {
      const gone = (path: string): Promise<unknown> => engine.find({ method: 'DELETE', path, query: { force: true, v: true }, signal })
      await Promise.all((await containers()).map(({ Id }) => gone(`/containers/${Id}`)))
      for (const { Id } of await networks()) await gone(`/networks/${Id}`)
      for (const name of volumes) await gone(`/volumes/${name}`)
    },
  }
}
