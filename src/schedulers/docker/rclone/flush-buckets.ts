import { setTimeout as sleep } from 'node:timers/promises'
import { SchedulerError, type FlushContext } from '../../scheduler.ts'
import type { DockerMount } from '../docker-request.ts'
import type { Engine } from '../engine.ts'
import { findContainers } from '../find-containers.ts'
import { RcloneError, type RcloneControl } from './rclone-control.ts'
import { bucketMounts, told, type RclonePlugin } from './rclone-plugin.ts'

/** The kernel hands the last files of an ended container to the plugin within this time. */
const RELEASE_MS = 500
const LOOK_MS = 300
/** Without a file that arrives for so long, what is left is given up. */
const STUCK_MS = 10 * 60_000

interface EndedAttempt {
  readonly engine: Engine
  readonly installation: string
  readonly attemptId: string
}

/**
 * Waits until all that an attempt's ended containers have written is in its buckets: the plugin uploads only after files
 * are closed, and says nothing to the daemon of what fails.
 *
 * @throws SchedulerError `rejected` with `mount_lost` when that cannot be proved; `unavailable`
 */
export async function flushBuckets(attempt: EndedAttempt, rclone: RclonePlugin, context: FlushContext): Promise<void> {
  const { remotes, startedAt } = await writtenBuckets(attempt, rclone, context.signal)
  if (remotes.size === 0) throw lost('endpoint_lost: the containers are gone that have written, and with them what they wrote to')
  await told('rclone', () => assertNotRestarted(rclone, startedAt, context.signal))
  for (const remote of remotes) await told(remote, () => flushBucket(rclone, remote, context))
  await told('rclone', () => assertNotRestarted(rclone, startedAt, context.signal))
}

interface InspectedMounts {
  readonly State: { readonly StartedAt: string }
  readonly HostConfig: { readonly Mounts?: readonly DockerMount[] | null }
}

async function writtenBuckets({ engine, installation, attemptId }: EndedAttempt, { driver }: RclonePlugin, signal: AbortSignal) {
  const remotes = new Set<string>()
  let startedAt = Infinity
  for (const { id } of await findContainers(engine, { installation, attempt: attemptId }, signal)) {
    const found = await engine.call<InspectedMounts>({ method: 'GET', path: `/containers/${id}/json`, signal })
    const written = bucketMounts(found.HostConfig.Mounts ?? [], driver).filter(({ readOnly }) => !readOnly)
    if (written.length > 0) startedAt = Math.min(startedAt, Date.parse(found.State.StartedAt))
    for (const { remote } of written) remotes.add(remote)
  }
  return { remotes, startedAt }
}

/** One that was started again knows nothing of what lies in its cache, until the same bucket is mounted again. */
async function assertNotRestarted({ control }: RclonePlugin, startedAt: number, signal: AbortSignal): Promise<void> {
  const { elapsedTime } = await control.call<{ elapsedTime: number }>('core/stats', {}, signal)
  if (Date.now() - elapsedTime * 1000 < startedAt) return
  throw lost('endpoint_lost: the rclone plugin was started again while the job ran, so that some of its writes may lie in its cache')
}

interface Waiting {
  readonly id: number
  readonly size: number
}

async function flushBucket({ control }: RclonePlugin, remote: string, { signal, progress }: FlushContext): Promise<void> {
  const { vfses } = await control.call<{ vfses: readonly string[] }>('vfs/list', {}, signal)
  const mounted = vfses.filter((fs) => isOf(fs, remote))
  if (mounted.length === 0) throw lost(`endpoint_lost: the rclone plugin knows nothing of ${remote} any more`)
  for (const fs of mounted) {
    const queueOf = async (): Promise<readonly Waiting[]> =>
      (await control.call<{ queue: readonly Waiting[] }>('vfs/queue', { fs }, signal)).queue
    const ours = new Set((await queueOf()).map(({ id }) => id))
    await sleep(RELEASE_MS, undefined, { signal })
    for (const { id } of await queueOf()) ours.add(id)
    for (const id of ours) await hurry(control, { fs, id }, signal)
    await untilGone(ours, { queueOf, progress, signal, remote })
  }
}

interface Gone extends FlushContext {
  readonly remote: string
  readonly queueOf: () => Promise<readonly Waiting[]>
}

/** Others may write to the same bucket all the time: only what was there when the containers had ended is waited for. */
async function untilGone(ours: ReadonlySet<number>, { remote, queueOf, progress, signal }: Gone): Promise<void> {
  let left = ours.size
  for (let movedAt = performance.now(); left > 0;) {
    const waiting = (await queueOf()).filter(({ id }) => ours.has(id))
    if (waiting.length < left) movedAt = performance.now()
    left = waiting.length
    if (left === 0) return
    if (performance.now() - movedAt > STUCK_MS)
      throw lost(`timeout_network: ${left} files cannot be put into ${remote}; they lie in the plugin's cache`)
    const bytes = waiting.reduce((sum, { size }) => sum + size, 0)
    progress({ bytes, files: left, totalBytes: bytes })
    await sleep(LOOK_MS, undefined, { signal })
  }
}

/** It waits some seconds before it uploads what was closed, in case that it is changed again. One that is gone needs no hurry. */
async function hurry(control: RcloneControl, { fs, id }: { fs: string; id: number }, signal: AbortSignal): Promise<void> {
  await control.call('vfs/queue-set-expiry', { fs, id, expiry: -1 }, signal).catch((error: unknown) => {
    if (!(error instanceof RcloneError) || error.statusCode === null) throw error
  })
}

/** A name with options has a hash of them in braces; the second of the same name a number in brackets. */
function isOf(fs: string, remote: string): boolean {
  return fs.replace(/^([^:{]+)\{[^}]*\}:/, '$1:').replace(/\[\d+\]$/, '') === remote
}

const lost = (message: string): SchedulerError => new SchedulerError('rejected', message, { failure: 'mount_lost' })
