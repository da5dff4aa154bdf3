import { request } from 'node:http'

export interface DockerState {
  /** Address for the scheduler's configuration, whether it answers or not. */
  readonly host: string
  /** Null: jobs can run there; else why not. */
  readonly obstacle: string | null
}

const PULL_MS = 20_000

/** Whether jobs with busybox can run on the Docker of DOCKER_HOST, or else of the usual socket; pulls the image if it is absent. */
export async function findDocker(): Promise<DockerState> {
  const host = process.env['DOCKER_HOST'] || 'unix:///var/run/docker.sock'
  if (!/^(unix:\/\/\/|tcp:\/\/(127\.|localhost))/.test(host)) {
    return { host: 'unix:///var/run/docker.sock', obstacle: `DOCKER_HOST is ${host}, and the demonstration uses sockets and loopback only` }
  }
  if ((await ask(host, 'GET', '/_ping', 2_000)) !== 200) return { host, obstacle: `no daemon answers at ${host}` }
  if ((await ask(host, 'GET', '/images/busybox:latest/json', 5_000)) === 200) return { host, obstacle: null }
  await ask(host, 'POST', '/images/create?fromImage=busybox&tag=latest', PULL_MS)
  const there = (await ask(host, 'GET', '/images/busybox:latest/json', 5_000)) === 200
  return { host, obstacle: there ? null : 'it has no image busybox:latest and cannot pull it (docker pull busybox says why)' }
}

/** HTTP status once the answer has ended; 0 if there was none. */
function ask(host: string, method: 'GET' | 'POST', path: string, timeoutMs: number): Promise<number> {
  const address = host.startsWith('unix://') ? { socketPath: host.slice('unix://'.length) } : addressOf(host)
  return new Promise((resolve) => {
    const call = request({ ...address, method, path, signal: AbortSignal.timeout(timeoutMs) }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0)).once('error', () => resolve(0))
    })
    call.once('error', () => resolve(0)).end()
  })
}

function addressOf(host: string): { host: string; port: string } {
  const { hostname, port } = new URL(host.replace('tcp:', 'http:'))
  return { host: hostname, port }
}
