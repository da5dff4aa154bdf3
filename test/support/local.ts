import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BindRoot } from '../../src/domain/capabilities.ts'
import { detectCgroups } from '../../src/schedulers/local/cgroups.ts'
import type { Isolation } from '../../src/schedulers/local/local-place.ts'
import { createLocalScheduler } from '../../src/schedulers/local/local-scheduler.ts'
import { readProcesses } from '../../src/schedulers/local/process-table.ts'
import type { SchedulerUnderTest } from '../contract/scheduler-under-test.ts'

export interface LocalUnderTest extends SchedulerUnderTest {
  readonly root: string
}

/** A local scheduler with a root of its own in the machine's temporary folder. */
export async function createLocalUnderTest(isolation: Isolation, bindRoots: readonly BindRoot[] = []): Promise<LocalUnderTest> {
  const home = await mkdtemp(join(tmpdir(), 'berth-local-'))
  const root = join(home, 'local')
  const installation = `t${process.pid}x${instances++}`
  const scheduler = createLocalScheduler({
    installation,
    root,
    isolation,
    bindRoots,
    node: 'here',
    driveRoot: null,
    apiUrl: null,
    maxMounts: 32,
    maxStageBytes: null,
    stageCacheBytes: 1e9,
  })
  const { hierarchies, prefix } = detectCgroups(installation)
  let volumes = 0
  return {
    scheduler,
    root,
    installation,
    newVolume: () => `volume-${volumes++}`,
    leftovers: async () => ({
      attempts: entriesOf(join(root, 'attempts')).length,
      bells: entriesOf(join(root, 'bells')).length,
      trash: entriesOf(join(root, 'trash')).length,
      cgroups: Object.values(hierarchies)
        .flatMap(entriesOf)
        .filter((name) => name.startsWith(prefix)).length,
      processes: await lastingProcesses(root),
    }),
    dispose: async () => {
      const never = new AbortController().signal
      for (const attemptId of entriesOf(join(root, 'attempts'))) {
        await scheduler.cancel({ attemptId, graceSeconds: 0 }, never)
        await scheduler.remove({ attemptId, graceSeconds: 0 }, never)
      }
      await rm(home, { recursive: true })
    },
  }
}

let instances = 0

const entriesOf = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])

/** A supervisor lives for a moment after its outcome is known: only what stays counts. */
async function lastingProcesses(root: string): Promise<number> {
  const count = (): number => readProcesses().filter(({ pid }) => commandLine(pid).includes(root)).length
  for (let tries = 0; tries < 50 && count() > 0; tries++) await sleep(20)
  return count()
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
