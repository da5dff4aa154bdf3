import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { lockDataDir } from '../../src/embedded/data-dir-lock.ts'
import { requireDocker } from '../support/requirements.ts'

// Not below /tmp, which a sandbox has for itself: as with the usual .berth, the sandbox must hide this folder.
const base = mkdtempSync('/var/tmp/berth-demo-')
afterAll(() => rmSync(base, { recursive: true, force: true }))

interface Shown {
  readonly code: number | null
  readonly output: string
  readonly seconds: number
}

function demo(dataDir: string, dockerHost: string): Promise<Shown> {
  const begin = performance.now()
  const { CI: _, ...env } = process.env
  const surroundings = { ...env, BERTH_DATA_DIR: dataDir, DOCKER_HOST: dockerHost }
  const child = spawn('script/demo', { env: surroundings, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output, seconds: (performance.now() - begin) / 1000 })))
}

/** Command lines of processes that have to do with this folder. */
function processesOf(dataDir: string): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .map((pid) => {
      try {
        return `${readFileSync(`/proc/${pid}/cmdline`, 'utf8')} ${readFileSync(`/proc/${pid}/environ`, 'latin1')}`
      } catch {
        return ''
      }
    })
    .filter((text) => text.includes(dataDir))
}

/** Both replicas found the line in the data that the first job wrote; output and states come in any order. */
function expectTrained(output: string, scheduler: string): void {
  const [, train = ''] = output.split(`train on ${scheduler}`)
  expect(train).toMatch(/trainer\/0 │ learned y = (2\.9|3\.0)\d x \+ (0\.9|1\.[01])\d/)
  expect(train).toMatch(/trainer\/1 │ learned y = (2\.9|3\.0)\d x \+ (0\.9|1\.[01])\d/)
  expect(train).toMatch(/ s {2}succeeded/)
}

describe('script/demo', () => {
  it('shows two jobs that share a volume, and the native form for Docker without a Docker, and leaves nothing running', async () => {
    const dataDir = join(base, 'alone')
    const { code, output, seconds } = await demo(dataDir, 'unix:///nowhere/docker.sock')
    expect(code, output).toBe(0)
    expect(output).toContain('left out: no daemon answers at unix:///nowhere/docker.sock')
    expect(output).toMatch(/generate on local[^]*shard-1\.csv: 400 rows[^]*train on local/)
    expectTrained(output, 'local')
    expect(output).toMatch(/learn on local[^]*model\.txt downloaded: y = 3\.00 x \+ 1\.00/)
    expect(output).toMatch(/readOnly: true[^]*│ +Source: "foo2"\n[^\n]*│ +Target: "\/data"\n[^\n]*│ +ReadOnly: true/)
    expect(output).not.toContain('\x1b')
    expect(seconds).toBeLessThan(60)
    expect(processesOf(dataDir)).toEqual([])
  })

  const docker = requireDocker()
  it.skipIf(docker.missing)('runs the same jobs on Docker when it answers, a second time too', async () => {
    const dataDir = join(base, 'docker')
    for (const _ of [1, 2]) {
      const { code, output } = await demo(dataDir, docker.host)
      expect(code, output).toBe(0)
      expectTrained(output, 'docker')
      expect(output).toMatch(/learn on docker[^]*model\.txt downloaded: y = 3\.00 x \+ 1\.00/)
    }
  })

  it('says what to do when a step fails, and leaves nothing running', async () => {
    const dataDir = join(base, 'taken')
    mkdirSync(dataDir)
    const lock = await lockDataDir(dataDir)
    const { code, output } = await demo(dataDir, 'unix:///nowhere/docker.sock')
    await lock.release()
    expect(code).toBe(1)
    expect(output).toContain(`another Berth (process ${process.pid}) runs on ${dataDir}`)
    expect(output).toContain('What to do:')
    expect(processesOf(dataDir)).toEqual([])
  })
})
