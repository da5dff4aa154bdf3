import { armCrashPoint } from '../../../../src/crash-point.ts'
import type { AttemptHandle, AttemptSpec } from '../../../../src/domain/attempt.ts'
import { createLocalScheduler } from '../../../../src/schedulers/local/local-scheduler.ts'
import { NOTHING_STAGED } from '../../../support/staging.ts'

/** A worker of its own that dies or is parked at a crash point: `crashing-worker.ts POINT ORDER`. */
export interface Order {
  readonly root: string
  readonly installation: string
  readonly submit: AttemptSpec | null
  readonly cancel: AttemptHandle | null
}

const [point = '', text = ''] = process.argv.slice(2)
const { root, installation, submit, cancel } = JSON.parse(text) as Order
const scheduler = createLocalScheduler({
  installation,
  root,
  isolation: 'bubblewrap',
  bindRoots: [],
  node: 'here',
  driveRoot: null,
  apiUrl: null,
  maxMounts: 32,
  maxStageBytes: null,
  stageCacheBytes: 1e9,
})
const { signal } = new AbortController()
armCrashPoint(point)
try {
  if (submit !== null) await scheduler.submit(scheduler.render(submit), { signal, staging: NOTHING_STAGED, progress: () => {} })
  if (cancel !== null) await scheduler.cancel(cancel, signal)
  console.log('done')
} catch (error) {
  console.log(JSON.stringify(error))
}
