import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DoorbellQueue } from '../queue/doorbell-queue.ts'
import { sweepRemovedDrives } from '../services/drives/delete-drive.ts'
import { runChecks } from '../services/drives/run-checks.ts'
import { driveAttempt } from '../services/attempts/drive-attempt.ts'
import { ringDue } from '../services/attempts/ring-due.ts'
import { sweepOverdue } from '../services/attempts/sweep.ts'
import { sweepOldOutput } from '../services/logs/sweep-old-output.ts'
import { workOnOutput } from '../services/logs/work-on-output.ts'
import { watchScheduler } from '../services/schedulers/watch-scheduler.ts'
import { Lanes } from './lanes.ts'
import { deliverDue } from '../services/webhooks/deliver-due.ts'
import { sweepEndedJobs } from '../services/jobs/sweep-ended-jobs.ts'
import { sweepOld } from '../services/sweep-old.ts'
import type { WorkerDeps } from '../services/worker-deps.ts'

/** Doorbells that one worker answers at once; those of one scheduler go in a lane. */
const CONCURRENCY = 96
const SWEEP_MS = 1_000
const OUTPUT_MS = 5_000
const TIDY_MS = 60_000
/** What is under way at a stop may take this long to come to its end; then it is given back as it stands. */
const DRAIN_MS = 4_000

export interface RunningWorker {
  /** Stops taking on work and gives back what it holds; returns within 10 s. */
  stop(): Promise<void>
}

/** Starts everything that a worker does: answer doorbells, relay, sweep, send messages, and watch each scheduler. */
export function startWorker(deps: WorkerDeps, queue: DoorbellQueue): RunningWorker {
  const stopping = new AbortController()
  const { signal } = stopping
  // Each loop listens to it, and there is one for each scheduler.
  setMaxListeners(0, signal)
  const drives = new Drives(deps)
  const drive = drives.start.bind(drives)
  const lanes = new Lanes(signal)
  queue.listen(CONCURRENCY, ({ attemptId, scheduler }) => lanes.act(scheduler, () => drive(attemptId)))
  const loops = [
    runChecks(deps, signal),
    ringDue(deps, queue.ring.bind(queue), signal),
    deliverDue(deps, signal),
    every(deps, SWEEP_MS, signal, () => sweepOverdue(deps)),
    every(deps, OUTPUT_MS, signal, () => workOnOutput(deps, signal)),
    every(deps, TIDY_MS, signal, () => sweepOld(deps, signal)),
    every(deps, TIDY_MS, signal, () => sweepOldOutput(deps, signal)),
    every(deps, TIDY_MS, signal, () => sweepEndedJobs(deps, signal)),
    every(deps, TIDY_MS, signal, () => sweepRemovedDrives(deps)),
    ...[...deps.schedulers].map(([name, scheduler]) => watchScheduler(deps, { name, scheduler, settle: drive }, signal)),
  ]
  deps.log.info({ worker: deps.workerId, schedulers: [...deps.schedulers.keys()] }, 'this worker takes on work')
  return {
    async stop() {
      stopping.abort()
      await Promise.all([queue.close(), drives.drain(), Promise.allSettled(loops)])
    },
  }
}

/** The attempts that this worker acts on now. */
class Drives {
  readonly #deps: WorkerDeps
  readonly #giveUp = new AbortController()
  readonly #underWay = new Set<Promise<void>>()

  constructor(deps: WorkerDeps) {
    this.#deps = deps
  }

  async start(attemptId: string): Promise<void> {
    const driving = driveAttempt(this.#deps, attemptId, this.#giveUp.signal)
    this.#underWay.add(driving)
    await driving.finally(() => this.#underWay.delete(driving))
  }

  async drain(): Promise<void> {
    const timer = setTimeout(() => this.#giveUp.abort(new Error('this worker is shutting down')), DRAIN_MS)
    await Promise.allSettled(this.#underWay)
    clearTimeout(timer)
  }
}

async function every(deps: WorkerDeps, ms: number, stop: AbortSignal, act: () => Promise<void>): Promise<void> {
  while (!stop.aborted) {
    await act().catch((error: unknown) => deps.log.warn({ err: error }, 'a sweep failed and will be repeated'))
    await sleep(ms, undefined, { signal: stop }).catch(() => undefined)
  }
}
