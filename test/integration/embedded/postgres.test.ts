import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../src/embedded/postgres.ts'
import { requireRoot } from '../../support/requirements.ts'
import { endProcess } from '../../support/tied-process.ts'

const root = requireRoot()
const base = mkdtempSync(join(tmpdir(), 'berth-embedded-'))
chmodSync(base, 0o755)
let count = 0
const freshDir = (): string => join(base, `d${(count += 1)}`)

const started: EmbeddedPostgres[] = []
async function start(dataDir: string, log: (line: string) => void = () => {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, log })
  started.push(server)
  return server
}

const holders: ChildProcess[] = []
async function startHolder(dataDir: string): Promise<ChildProcess> {
  const args = ['--import', 'tsx', 'test/support/embedded-holder.ts', dataDir]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  holders.push(child)
  await once(child.stdout as NodeJS.ReadableStream, 'data')
  return child
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat() as unknown[]
  } finally {
    await client.end()
  }
}

/** Processes that have this cluster as their working directory. */
function processesOf(dataDir: string): string[] {
  const cwdOf = (pid: string): string | null => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`)
    } catch {
      return null
    }
  }
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && cwdOf(pid) === join(dataDir, 'postgres/data'))
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()))
  await Promise.all(holders.splice(0).map((child) => endProcess(child, 'SIGKILL')))
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

describe('the embedded PostgreSQL', () => {
  it('is a durable PostgreSQL 17 with UTF-8, and keeps its data from start to start', async () => {
    const dataDir = freshDir()
    const first = await start(dataDir)
    const facts = `SELECT current_setting('server_version_num')::int / 10000, current_setting('fsync'), current_setting('server_encoding')`
    expect(await ask(first.url, facts)).toEqual([17, 'on', 'UTF8'])
    await ask(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
    await first.stop()
    const second = await start(dataDir)
    expect(await ask(second.url, 'SELECT answer FROM kept')).toEqual([42])
  })

  it('leaves no process behind when it is stopped', async () => {
    const dataDir = freshDir()
    const server = await start(dataDir)
    expect(processesOf(dataDir)).not.toEqual([])
    await server.stop()
    await server.stop()
    expect(processesOf(dataDir)).toEqual([])
  })

  it('lets nobody in without the password, and keeps that to the owner', async () => {
    const dataDir = freshDir()
    const { url } = await start(dataDir)
    await expect(ask(url.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toMatchObject({ code: '28P01' })
    expect(statSync(join(dataDir, 'postgres/password')).mode & 0o777).toBe(0o600)
    expect(url).toContain(readFileSync(join(dataDir, 'postgres/password'), 'utf8'))
  })

  it('takes loopback where the path of a socket would be too long', async () => {
    const dataDir = join(freshDir(), 'x'.repeat(80))
    const { url } = await start(dataDir)
    expect(url).toMatch(/@127\.0\.0\.1:\d+\//)
    expect(await ask(url, 'SELECT 1')).toEqual([1])
  })

  it('refuses a second Berth on the same folder and names the first', async () => {
    const dataDir = freshDir()
    await start(dataDir)
    const refusal = start(dataDir)
    await expect(refusal).rejects.toMatchObject({ code: 'data_dir_in_use' })
    await expect(refusal).rejects.toThrow(`process ${process.pid}`)
  })

  it('shuts itself down when its Berth is killed, and starts again at once', async () => {
    const dataDir = freshDir()
    await endProcess(await startHolder(dataDir), 'SIGKILL')
    const { url } = await start(dataDir)
    expect(await ask(url, 'SELECT 1')).toEqual([1])
  })

  it('ends what an earlier Berth has left running', async () => {
    const dataDir = freshDir()
    const { stop } = await start(dataDir)
    await stop()
    const leftover = spawn('sleep', ['60'], { cwd: join(dataDir, 'postgres/data'), stdio: 'ignore' })
    await once(leftover, 'spawn')
    const lines: string[] = []
    await start(dataDir, (line) => lines.push(line))
    expect(lines).toEqual([expect.stringContaining('ended a PostgreSQL that an earlier Berth had left running')])
    await sleep(50)
    expect(leftover.signalCode).toBe('SIGINT')
  })

  it('is not kept from starting by a pid file that names a stranger', async () => {
    const dataDir = freshDir()
    await (await start(dataDir)).stop()
    writeFileSync(join(dataDir, 'postgres/data/postmaster.pid'), `${process.ppid}\n${dataDir}\n0\n5432\n\n\n`)
    expect(await ask((await start(dataDir)).url, 'SELECT 1')).toEqual([1])
  })

  it('makes its cluster anew when the first start was interrupted', async () => {
    const dataDir = freshDir()
    mkdirSync(join(dataDir, 'postgres/data.new'), { recursive: true })
    chmodSync(join(dataDir, 'postgres'), 0o711)
    writeFileSync(join(dataDir, 'postgres/data.new/PG_VERSION'), '17')
    expect(await ask((await start(dataDir)).url, 'SELECT 1')).toEqual([1])
  })

  it('refuses the cluster of another version', async () => {
    const dataDir = freshDir()
    await (await start(dataDir)).stop()
    writeFileSync(join(dataDir, 'postgres/data/PG_VERSION'), '16\n')
    await expect(start(dataDir)).rejects.toMatchObject({ code: 'wrong_version' })
  })

  it('gives the words of the server when it does not start', async () => {
    const dataDir = freshDir()
    const failing = startEmbeddedPostgres({ dataDir, log: () => {}, settings: { shared_buffers: 'plenty' } })
    await expect(failing).rejects.toMatchObject({ code: 'start_failed', message: expect.stringContaining('"shared_buffers": "plenty"') })
    expect(await ask((await start(dataDir)).url, 'SELECT 1')).toEqual([1])
  })

  it.skipIf(root.missing)('runs as an unprivileged user under root, also behind a folder that is closed to that user', async () => {
    const closed = freshDir()
    mkdirSync(closed, { mode: 0o700 })
    const dataDir = join(closed, 'data')
    const { url } = await start(dataDir)
    expect(await ask(url, 'SELECT 1')).toEqual([1])
    expect(statSync(join(dataDir, 'postgres/data')).uid).toBe(65534)
    const [pid] = processesOf(dataDir)
    expect(readFileSync(`/proc/${pid}/status`, 'utf8')).toMatch(/^Uid:\s+65534\s/m)
  })
})
