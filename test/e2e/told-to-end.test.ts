import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { builtBerth } from '../support/built-berth.ts'
import { eventually } from '../support/eventually.ts'
import { requireProgram } from '../support/requirements.ts'
import { endProcess, spawnTied } from '../support/tied-process.ts'

const sandbox = requireProgram('bwrap')

describe.skipIf(sandbox.missing)('a Berth with a database of its own', () => {
  let dataDir: string
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'berth-told-'))
  })
  afterAll(() => rm(dataDir, { recursive: true, force: true }))

  const start = async () => {
    const env = { PATH: process.env['PATH'], BERTH_PORT: '0', BERTH_DATA_DIR: dataDir }
    return spawnTied(process.execPath, [await builtBerth()], { env })
  }
  const postmaster = () => join(dataDir, 'postgres', 'data', 'postmaster.pid')

  it('that is told to end while it starts ends its database too, with code 0', async () => {
    const child = await start()
    try {
      await eventually(() => existsSync(postmaster()), Boolean)
      child.kill('SIGTERM')
      const [code] = (await once(child, 'exit')) as [number | null]
      expect({ code, postmaster: existsSync(postmaster()) }).toEqual({ code: 0, postmaster: false })
    } finally {
      await endProcess(child, 'SIGKILL')
    }
  })
})

describe('a Berth whose database says nothing', () => {
  it('ends at once when it is told a second time, but not by an echo of the first', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const env = { DATABASE_URL: `postgresql://nobody@127.0.0.1:${port}/none`, BERTH_API_KEY: 'k'.repeat(32), BERTH_SERVE: 'api' }
    const child = spawnTied(process.execPath, [await builtBerth()], { env: { PATH: process.env['PATH'], ...env } })
    try {
      await once(silent, 'connection')
      child.kill('SIGINT')
      await sleep(100)
      child.kill('SIGINT')
      await sleep(1_000)
      expect(child.exitCode).toBe(null)
      child.kill('SIGINT')
      expect(await once(child, 'exit')).toEqual([130, null])
    } finally {
      await endProcess(child, 'SIGKILL')
      silent.close()
    }
  })
})
