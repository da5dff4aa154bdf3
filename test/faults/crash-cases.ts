import type { Place } from '../support/places.ts'

/** What happens to the job in whose course the process is to die. */
export type Life = 'plain' | 'canceled' | 'taken_over' | 'with_drives'

export interface CrashCase {
  readonly place: Place
  readonly point: string
  readonly life: Life
}

/** Passed by every attempt, wherever it goes. */
const OF_EVERY_JOB = [
  ...['submit_job.before', 'submit_job.after', 'relay.ring.before', 'relay.ring.after', 'drive.claimed', 'drive.release.before'],
  ...['submit.intent.after', 'submit.native.after', 'settle.logs.after', 'drive.remove.before', 'drive.remove.after'],
  'drive.removed.after',
]
const OF_EVERY_STOP = ['stop.cancel.before', 'stop.cancel.after']

const OF_DOCKER = [
  ...['docker.network.create.before', 'docker.network.create.after', 'docker.create.before', 'docker.create.after'],
  ...['docker.start.before', 'docker.start.after', 'docker.delete.before', 'docker.delete.after', 'docker.network.delete.before'],
]
const OF_DOCKER_STOP = ['docker.stop.before', 'docker.stop.after']
/** Only a later claim renames. */
const OF_DOCKER_TAKEOVER = ['docker.rename.before', 'docker.rename.after']

const OF_LOCAL = [
  ...['local.prepare.before', 'local.prepare.after', 'local.start.before', 'local.start.after'],
  ...['local.remove.before', 'local.remove.after'],
]
const OF_LOCAL_STOP = ['local.cancel.before', 'local.cancel.after']

const OF_OUTPUTS = ['outputs.copied.after', 'commit.begun.after', 'commit.moved.after', 'outputs.committed.after']

/** Passed by messages and not by jobs: see webhooks.test.ts. */
export const POINTS_OF_WEBHOOKS = ['webhook.sent.after']

/** Passed long after the end of a job: see archived-output.test.ts. */
export const POINTS_OF_ARCHIVE = ['archive.written.after', 'archive.exchanged.after', 'archive.done.before']

/** Points at which the one dies that another is to cancel. */
export const CANCEL_CASES = {
  docker: [...OF_EVERY_JOB, ...OF_DOCKER],
  local: [...OF_EVERY_JOB, ...OF_LOCAL],
} as const satisfies Record<Place, readonly string[]>

const cases = (place: Place, life: Life, points: readonly string[]): CrashCase[] => points.map((point) => ({ place, point, life }))

/** Every crash point that there is in src, on each kind of scheduler that passes it. */
export const CRASH_CASES: readonly CrashCase[] = [
  ...cases('docker', 'plain', [...OF_EVERY_JOB, ...OF_DOCKER]),
  ...cases('docker', 'canceled', [...OF_EVERY_STOP, ...OF_DOCKER_STOP]),
  ...cases('docker', 'taken_over', OF_DOCKER_TAKEOVER),
  ...cases('docker', 'with_drives', ['docker.stage.before', 'docker.stage.after', ...OF_OUTPUTS]),
  ...cases('local', 'plain', [...OF_EVERY_JOB, ...OF_LOCAL]),
  ...cases('local', 'canceled', [...OF_EVERY_STOP, ...OF_LOCAL_STOP]),
  ...cases('local', 'with_drives', ['local.stage.before', 'local.stage.after', ...OF_OUTPUTS]),
]
