import { execFile } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { headers, runJob, type Server } from './berth.ts'
import { inPairs, report } from './figures.ts'

const run = promisify(execFile)
const CHUNK = Buffer.alloc(1024 * 1024, 'x')
const MIB = 512
const SMALL_FILES = 5_000
const authorization = { authorization: headers.authorization }

/** Objects through the API against a bare stream to the same disk, and copies into jobs against `cp`. */
export async function benchDrives(berth: Server, dataDir: string): Promise<void> {
  const made = await fetch(`${berth.url}/v1/drives`, { method: 'POST', headers, body: JSON.stringify({ name: 'bench', kind: 'managed' }) })
  const { id } = (await made.json()) as { id: string }
  const source = join(dataDir, 'drives', id, 'data')
  const aside = join(dataDir, 'aside')
  await mkdir(aside)
  const perSecond = async (act: () => Promise<unknown>): Promise<number> => {
    const before = performance.now()
    await act()
    return (MIB * 1000) / (performance.now() - before)
  }
  const body = (): Readable => Readable.from(Array.from({ length: MIB }, () => CHUNK))
  const put = () =>
    fetch(objectOf(berth, 'large/object'), { method: 'PUT', headers: authorization, body: body() as never, duplex: 'half' } as RequestInit)
  const writeBare = () => pipeline(body(), createWriteStream(join(aside, 'bare'), { flush: true }))
  report(
    `put of ${MIB} MiB`,
    await inPairs(
      4,
      () => perSecond(put),
      () => perSecond(writeBare),
    ),
    'MiB/s',
    '>= 0.8',
  )
  const get = async (): Promise<void> => drain((await fetch(objectOf(berth, 'large/object'), { headers: authorization })).body)
  const readBare = () => drain(createReadStream(join(aside, 'bare'), { highWaterMark: 1024 * 1024 }))
  report(
    `get of ${MIB} MiB`,
    await inPairs(
      4,
      () => perSecond(get),
      () => perSecond(readBare),
    ),
    'MiB/s',
    '>= 0.8',
  )
  await mkdir(join(source, 'small'), { recursive: true })
  for (let index = 0; index < SMALL_FILES; index += 1) await writeFile(join(source, 'small', `${index}`), CHUNK.subarray(0, 16 * 1024))
  for (const part of ['large', 'small']) {
    const stage = async (): Promise<number> => 1000 / (await runJob(berth, copyIn(part))).ms
    const copy = async (): Promise<number> => {
      const before = performance.now()
      await run('cp', ['-r', join(source, part), join(aside, 'copy')])
      const rate = 1000 / (performance.now() - before)
      await rm(join(aside, 'copy'), { recursive: true })
      return rate
    }
    report(
      `job with a copy of ${part} (${(await readdir(join(source, part))).length} files) on local`,
      await inPairs(3, stage, copy),
      'copies/s',
      '>= 0.7',
    )
  }
}

const objectOf = (berth: Server, path: string): string => `${berth.url}/v1/drives/bench/objects/${path}`

/** Writable, so that nothing comes from what an earlier job has left on the machine. */
const copyIn = (subPath: string): object => ({
  scheduler: 'local',
  roles: [{ command: ['true'], mounts: [{ type: 'drive', drive: 'bench', path: '/in', mode: 'copy_in', access: 'rw', subPath }] }],
})

async function drain(stream: AsyncIterable<Uint8Array> | null): Promise<void> {
  for await (const _ of stream ?? []);
}
