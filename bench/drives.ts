import { execFile, spawn } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import Docker from 'dockerode'
import { headers, runJob, startServer, type Server } from './berth.ts'
import { inPairs, report } from './figures.ts'

const run = promisify(execFile)
const CHUNK = Buffer.alloc(1024 * 1024, 'x')
const MIB = 1024
const LARGE_MIB = 4096
const SMALL_FILES = 20_000
const authorization = { authorization: headers.authorization }

export interface DriveBench {
  readonly berth: Server
  readonly dataDir: string
  /** Of a Docker with a `busybox` image; null for none. */
  readonly dockerSocket: string | null
}

/** Objects through the API against a bare HTTP server in front of the same disk, and copies into jobs against `cp` and `tar`. */
export async function benchDrives({ berth, dataDir, dockerSocket }: DriveBench): Promise<void> {
  const made = await fetch(`${berth.url}/v1/drives`, { method: 'POST', headers, body: JSON.stringify({ name: 'bench', kind: 'managed' }) })
  const { id } = (await made.json()) as { id: string }
  const source = join(dataDir, 'drives', id, 'data')
  const aside = join(dataDir, 'aside')
  await mkdir(aside)
  await benchObjects(berth, aside)
  await fill(source)
  for (const part of ['large', 'small']) {
    await benchLocalCopies(berth, part, { source: join(source, part), aside: join(aside, 'copy') })
    if (dockerSocket !== null) await benchDockerCopies(berth, part, { source: join(source, part), dockerSocket })
  }
}

async function benchObjects(berth: Server, aside: string): Promise<void> {
  const bare = await startServer(['--import', 'tsx', 'bench/bare-store.ts'], { DIR: aside }, '/')
  const object = `${berth.url}/v1/drives/bench/objects/object`
  const file = `${bare.url}/object`
  const body = (): Readable => Readable.from(Array.from({ length: MIB }, () => CHUNK))
  const put = (url: string) => () =>
    perSecond(MIB, () => fetch(url, { method: 'PUT', headers: authorization, body: body() as never, duplex: 'half' } as RequestInit))
  const get = (url: string) => () => perSecond(MIB, async () => drain((await fetch(url, { headers: authorization })).body))
  try {
    report(`put of ${MIB} MiB`, await inPairs(4, put(object), put(file)), 'MiB/s', '>= 0.8')
    report(`get of ${MIB} MiB`, await inPairs(4, get(object), get(file)), 'MiB/s', '>= 0.8')
    console.log(`Berth took ${await peakMiB(berth)} MiB of memory at the most`)
  } finally {
    await bare.stop()
  }
}

async function fill(source: string): Promise<void> {
  await mkdir(join(source, 'large'), { recursive: true })
  await mkdir(join(source, 'small'), { recursive: true })
  await writeFile(join(source, 'large', 'file'), Readable.from(Array.from({ length: LARGE_MIB }, () => CHUNK)))
  for (let index = 0; index < SMALL_FILES; index += 1) await writeFile(join(source, 'small', `${index}`), CHUNK.subarray(0, 16 * 1024))
}

interface LocalPaths {
  readonly source: string
  readonly aside: string
}

async function benchLocalCopies(berth: Server, part: string, { source, aside }: LocalPaths): Promise<void> {
  const copy = async (): Promise<number> => {
    const rate = await perSecond(1, () => run('cp', ['-r', source, aside]))
    await rm(aside, { recursive: true })
    return rate
  }
  const job = (access: string) => ({ scheduler: 'local', roles: [{ command: ['true'], mounts: [copyIn(part, access)] }] })
  report(`local job with a copy of ${part}`, await inPairs(3, staged(berth, job('rw')), copy), 'copies/s', '>= 0.7')
  const first = await staged(berth, job('ro'))()
  const again = await staged(berth, job('ro'))()
  console.log(`the second local job that reads ${part} takes ${(first / again).toFixed(2)} of the first`)
}

interface DockerPaths {
  readonly source: string
  readonly dockerSocket: string
}

/** Against `tar` straight into a container that is there. */
async function benchDockerCopies(berth: Server, part: string, { source, dockerSocket }: DockerPaths): Promise<void> {
  const docker = new Docker({ socketPath: dockerSocket })
  const copy = async (): Promise<number> => {
    const container = await docker.createContainer({ Image: 'busybox', Cmd: ['true'], Volumes: { '/in': {} } })
    const rate = await perSecond(1, async () => {
      await container.putArchive(spawn('tar', ['-c', '-C', source, '.'], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout, { path: '/in' })
      await container.start()
      await container.wait()
    })
    await container.remove({ v: true })
    return rate
  }
  const job = { scheduler: 'docker', roles: [{ image: 'busybox', command: ['true'], mounts: [copyIn(part, 'rw')] }] }
  report(`Docker job with a copy of ${part}`, await inPairs(3, staged(berth, job), copy), 'copies/s', '>= 0.7')
  console.log(`Berth took ${await peakMiB(berth)} MiB of memory at the most`)
}

/** With access `rw` nothing comes from what an earlier job has left on the machine. */
const copyIn = (subPath: string, access: string): object => ({
  type: 'drive',
  drive: 'bench',
  path: '/in',
  mode: 'copy_in',
  access,
  subPath,
})

const staged = (berth: Server, job: object) => async (): Promise<number> => 1000 / (await runJob(berth, job)).ms

async function perSecond(amount: number, act: () => Promise<unknown>): Promise<number> {
  const before = performance.now()
  await act()
  return (amount * 1000) / (performance.now() - before)
}

async function drain(stream: AsyncIterable<Uint8Array> | null): Promise<void> {
  for await (const _ of stream ?? []);
}

/** Resident memory of the process, at its highest. */
async function peakMiB({ process: { pid } }: Server): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024)
}
