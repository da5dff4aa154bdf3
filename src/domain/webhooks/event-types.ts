import { JOB_STATES } from '../job-state.ts'

/** Every type of event that a webhook can take, by what it is about. */
export const WEBHOOK_EVENTS = {
  job: [...JOB_STATES.map((state) => `job.${state}` as const), 'job.progress'],
  drive: ['drive.object_created', 'drive.object_deleted', 'drive.objects_committed'],
  webhook: ['webhook.disabled'],
} as const

const GROUPS = Object.keys(WEBHOOK_EVENTS)

/** What the `events` of a webhook may name: a type, all of a kind, or all. */
export const EVENT_PATTERNS: readonly string[] = ['*', ...GROUPS.map((group) => `${group}.*`), ...Object.values(WEBHOOK_EVENTS).flat()]

/** Sent only when it is asked for. */
export const TEST_EVENT = 'webhook.test'
