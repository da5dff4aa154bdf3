import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeDirectory } from '../../make-directory.ts'
import type { ResourceLimit } from '../../domain/capabilities.ts'
import { errorCode, unlessMissing } from './errors.ts'
import type { LocalReplica } from './render.ts'

/** Where this machine lets us make control groups, and for which limits. */
export interface Cgroups {
  readonly limits: readonly CgroupLimit[]
  /** Folder in which the groups for each limit are made; all the same one under cgroup v2. */
  readonly hierarchies: Readonly<Partial<Record<CgroupLimit, string>>>
  /** Begins the name of every group of this installation. */
  readonly prefix: string
}

export type CgroupLimit = Extract<ResourceLimit, 'cpus' | 'memoryMiB' | 'pids'>

/** The groups of one replica. `oomFacts` is the file that counts its out-of-memory kills, `''` without a memory limit. */
export interface ReplicaCgroups {
  readonly folders: readonly string[]
  readonly oomFacts: string
}

/** Finds out by making a group and setting each limit, so that only what works is promised. Nothing of that stays. */
export function detectCgroups(installation: string, mountPoint = '/sys/fs/cgroup'): Cgroups {
  const unified = existsSync(join(mountPoint, 'cgroup.controllers'))
  if (unified) enableControllers(mountPoint)
  const prefix = `berth-${installation}-`
  const hierarchies: Partial<Record<CgroupLimit, string>> = {}
  for (const limit of CGROUP_LIMITS) {
    const hierarchy = join(mountPoint, unified ? '' : V1_CONTROLLERS[limit])
    if (canSet(limit, hierarchy, `${prefix}probe-${process.pid}`)) hierarchies[limit] = hierarchy
  }
  return { limits: CGROUP_LIMITS.filter((limit) => hierarchies[limit] !== undefined), hierarchies, prefix }
}

/** Folders of the groups that the limits of a replica need. */
export function cgroupFolders(cgroups: Cgroups, name: string, limits: LocalReplica['limits']): string[] {
  return [...new Set(wantedLimits(cgroups, limits).map((limit) => cgroupFolder(cgroups, name, limit)))]
}

/** Makes those groups, with the limits set. May be repeated. */
export async function makeCgroups(cgroups: Cgroups, name: string, limits: LocalReplica['limits']): Promise<ReplicaCgroups> {
  const wanted = wantedLimits(cgroups, limits)
  for (const limit of wanted) {
    const folder = cgroupFolder(cgroups, name, limit)
    await makeDirectory(folder)
    for (const [file, value] of limitFiles(folder, limit, limits[limit] ?? 0)) await writeFile(join(folder, file), value)
  }
  const limited = wanted.includes('memoryMiB')
  return { folders: cgroupFolders(cgroups, name, limits), oomFacts: limited ? oomFacts(cgroupFolder(cgroups, name, 'memoryMiB')) : '' }
}

/** Takes away groups. One in which a process is still ending is tried again for a while, and stays if that does not end. */
export async function removeCgroups(folders: readonly string[]): Promise<void> {
  await Promise.all(folders.map(async (folder) => {
    for (let tries = 0; tries < 50; tries++) {
      const code = await rmdir(folder).then(() => null, errorCode)
      if (code !== 'EBUSY') return
      await sleep(20)
    }
  }))
}

/** The processes in a group; none if it is gone. */
export async function processesIn(folder: string): Promise<number[]> {
  const text = await readFile(join(folder, 'cgroup.procs'), 'latin1').catch(unlessMissing(''))
  return text.split('\n').filter((line) => line !== '').map(Number)
}

const wantedLimits = (cgroups: Cgroups, limits: LocalReplica['limits']): CgroupLimit[] =>
  cgroups.limits.filter((limit) => limits[limit] !== null)

const cgroupFolder = ({ hierarchies, prefix }: Cgroups, name: string, limit: CgroupLimit): string =>
  join(hierarchies[limit] ?? '', `${prefix}${name}`)

const CGROUP_LIMITS: readonly CgroupLimit[] = ['cpus', 'memoryMiB', 'pids']
const V1_CONTROLLERS: Readonly<Record<CgroupLimit, string>> = { cpus: 'cpu', memoryMiB: 'memory', pids: 'pids' }

/** bubblewrap itself is two processes in the sandbox's group. */
const OWN_PROCESSES = 2
const PERIOD_US = 100_000

/** What to write for a limit. Swap is no way around the memory limit, where swap is counted at all. */
function limitFiles(folder: string, limit: CgroupLimit, amount: number): [file: string, value: string][] {
  const bytes = String(amount * 1024 * 1024)
  const quota = String(Math.max(1000, Math.round(amount * PERIOD_US)))
  const has = (file: string): boolean => existsSync(join(folder, file))
  switch (limit) {
    case 'pids': return [['pids.max', String(amount + OWN_PROCESSES)]]
    case 'cpus':
      if (has('cpu.max')) return [['cpu.max', `${quota} ${PERIOD_US}`]]
      return [['cpu.cfs_period_us', String(PERIOD_US)], ['cpu.cfs_quota_us', quota]]
    case 'memoryMiB': {
      const [main, swap, swapBytes] = has('memory.max') ? UNIFIED_MEMORY : ['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes', bytes]
      return has(swap) ? [[main, bytes], [swap, swapBytes]] : [[main, bytes]]
    }
  }
}

const UNIFIED_MEMORY = ['memory.max', 'memory.swap.max', '0'] as const

const oomFacts = (folder: string): string =>
  join(folder, existsSync(join(folder, 'memory.events')) ? 'memory.events' : 'memory.oom_control')

function canSet(limit: CgroupLimit, hierarchy: string, name: string): boolean {
  if (!existsSync(join(hierarchy, 'cgroup.procs'))) return false
  const probe = join(hierarchy, name)
  try {
    mkdirSync(probe, { recursive: true })
    const files = limitFiles(probe, limit, 64)
    for (const [file, value] of files) writeFileSync(join(probe, file), value)
    return true
  } catch {
    return false
  } finally {
    removeQuietly(probe)
  }
}

/** cgroup v2: lets children of this folder have the controllers that they need. Whether it worked is seen by their files. */
function enableControllers(folder: string): void {
  const enabled = readFileSync(join(folder, 'cgroup.subtree_control'), 'latin1').split(/\s+/)
  for (const controller of ['cpu', 'memory', 'pids'].filter((name) => !enabled.includes(name))) {
    try {
      writeFileSync(join(folder, 'cgroup.subtree_control'), `+${controller}`)
    } catch {
      // Not offered, or not ours to give.
    }
  }
}

function removeQuietly(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // It was never made.
  }
}
