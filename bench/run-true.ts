import Docker from 'dockerode'
import { runJob, type Server } from './berth.ts'
import { inPairs, median, report } from './figures.ts'

const ROUNDS = 20

/** `true` on Docker, POST to terminal, against the three calls that it cannot be less than. */
export async function benchDockerTrue(berth: Server, socketPath: string): Promise<void> {
  const docker = new Docker({ socketPath })
  const bare = async (): Promise<number> => {
    const before = performance.now()
    const container = await docker.createContainer({ Image: 'busybox', Cmd: ['true'] })
    await container.start()
    await container.wait()
    const ms = performance.now() - before
    await container.remove()
    return ms
  }
  const ours = async (): Promise<number> =>
    (await runJob(berth, { scheduler: 'docker', roles: [{ image: 'busybox', command: ['true'] }] })).ms
  await ours()
  await bare()
  report('true on Docker', await inPairs(ROUNDS, ours, bare), 'ms', '<= 1.15')
}

/** `true` as a local process, POST to terminal. */
export async function benchLocalTrue(berth: Server): Promise<void> {
  const once = async (): Promise<number> => (await runJob(berth, { scheduler: 'local', roles: [{ command: ['true'] }] })).ms
  await once()
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) times.push(await once())
  console.log(
    `true as a local process: ${median(times).toFixed(0)} ms, ${Math.min(...times).toFixed(0)} to ${Math.max(...times).toFixed(0)}`,
  )
}
