import { readdir, readlink, realpath } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

const SHUTDOWN_MS = 15_000

/**
 * Ends the server that a Berth which died has left on this cluster: SIGINT (fast shutdown), SIGKILL after 15 s.
 * All processes of a server have the cluster as their working directory, and nothing else has: that tells them from a
 * stranger that was given the number in the old `postmaster.pid`.
 * @returns how many were found.
 */
export async function endLeftoverProcesses(clusterDir: string): Promise<number> {
  const cluster = await realpath(clusterDir)
  const found = await processesIn(cluster)
  found.forEach((pid) => signal(pid, 'SIGINT'))
  const deadline = Date.now() + SHUTDOWN_MS
  for (let left = found; left.length > 0; left = await processesIn(cluster)) {
    if (Date.now() > deadline) left.forEach((pid) => signal(pid, 'SIGKILL'))
    await sleep(20)
  }
  return found.length
}

async function processesIn(folder: string): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0 && pid !== process.pid)
  const folders = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => null)))
  return pids.filter((_, i) => folders[i] === folder)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended between the look and the signal.
  }
}
