import { randomBytes } from 'node:crypto'
import { Engine } from '../../src/schedulers/docker/engine.ts'
import { labelFilter } from '../../src/schedulers/docker/labels.ts'
import { createDockerScheduler } from '../../src/schedulers/docker/docker-scheduler.ts'
import type { DockerSchedulerOptions } from '../../src/schedulers/docker/docker-scheduler.ts'
import type { SchedulerUnderTest } from '../contract/scheduler-under-test.ts'

/** The daemon that tests may use; it has `busybox:latest`. */
export const dockerHost = process.env.BERTH_TEST_DOCKER ?? 'unix:///tmp/berth-dev/docker.sock'

/** Straight to the daemon, for what a test wants to see or to do behind the scheduler's back. */
export const docker = new Engine(dockerHost)

const signal = new AbortController().signal

export interface DockerUnderTest extends SchedulerUnderTest {
  readonly containers: () => Promise<readonly { readonly Id: string; readonly Names: readonly string[]; readonly State: string }[]>
}

/** A Docker scheduler of an installation of its own. */
export function createDockerUnderTest(options: Partial<DockerSchedulerOptions> = {}): DockerUnderTest {
  const installation = `t${randomBytes(4).toString('hex')}`
  const filters = labelFilter({ installation })
  const volumes: string[] = []
  const scheduler = createDockerScheduler({ installation, host: dockerHost, bindRoots: [], devices: [], registries: {}, ...options })
  const containers: DockerUnderTest['containers'] = () =>
    docker.call({ method: 'GET', path: '/containers/json', query: { all: true, filters }, signal })
  const networks = (): Promise<{ Id: string }[]> => docker.call({ method: 'GET', path: '/networks', query: { filters }, signal })
  return {
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
      const gone = (path: string): Promise<unknown> => docker.find({ method: 'DELETE', path, query: { force: true, v: true }, signal })
      await Promise.all((await containers()).map(({ Id }) => gone(`/containers/${Id}`)))
      for (const { Id } of await networks()) await gone(`/networks/${Id}`)
      for (const name of volumes) await gone(`/volumes/${name}`)
    },
  }
}
