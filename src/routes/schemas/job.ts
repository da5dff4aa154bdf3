import { z } from 'zod'
import { REPLICA_PHASES } from '../../domain/attempt.ts'
import { FAILURE_REASON_NAMES, FAILURE_REASONS } from '../../domain/failure-reason.ts'
import { JOB_STATES } from '../../domain/job-state.ts'
import { EXAMPLE_SPEC, jobSpec, labels } from './job-spec.ts'
import { EXAMPLE_RESOLUTION, resolution } from './mount.ts'
import { pageOf } from './page.ts'
import { time } from './time.ts'

const KNOWN_REASONS = FAILURE_REASON_NAMES.map((name) => `\`${name}\` (${FAILURE_REASONS[name].meaning})`).join(', ')

/** Example id, the same everywhere. */
export const EXAMPLE_JOB_ID = 'job_01h455vb4pex5vsknk084sn02q'

export const jobState = z.enum(JOB_STATES, { error: `must be some of ${JOB_STATES.join(', ')}` }).meta({
  id: 'JobState',
  description: '`succeeded`, `failed` and `canceled` are final. No state will be added within this version of the API.',
})

const reason = z
  .string()
  .nullable()
  .meta({
    description:
      'Why it is in that state: what it waits for (`capacity`, `image_pull`, `volume`, …; more may be added), or how ' +
      'it failed (a `FailureReason`); null when there is nothing to say.',
  })
const detail = z.string().nullable().meta({ description: "The reason for people: the scheduler's own words." })

const replica = z
  .object({
    index: z.int(),
    phase: z.enum(REPLICA_PHASES).meta({ id: 'ReplicaPhase', description: 'What is observed of a replica.' }),
    exitCode: z.int().nullable(),
    startedAt: time.nullable(),
    endedAt: time.nullable(),
    node: z.string().nullable().meta({ description: 'The machine that runs it.' }),
    nativeId: z.string().nullable().meta({ description: 'What the scheduler calls it, such as a container id.' }),
    nativeReason: z.string().nullable().meta({ description: "The scheduler's own words." }),
    failure: z
      .enum(FAILURE_REASON_NAMES)
      .meta({ id: 'FailureReason', description: `How it failed: ${KNOWN_REASONS}.` })
      .nullable(),
  })
  .meta({ id: 'Replica', description: 'The last that was observed of one replica.' })

const attempt = z
  .object({
    number: z.int().meta({ description: '1 for the first try.' }),
    state: jobState,
    reason,
    detail,
    roles: z.array(
      z.object({ name: z.string(), replicas: z.array(replica) }).meta({ id: 'AttemptRole', description: 'The replicas of one role.' }),
    ),
    mounts: z.array(resolution),
    startedAt: time.nullable(),
    endedAt: time.nullable(),
  })
  .meta({ id: 'Attempt', description: 'One try of a job on its scheduler.' })

/** The queued job of the examples. */
const EXAMPLE = {
  id: EXAMPLE_JOB_ID,
  name: 'train',
  scheduler: 'local',
  state: 'queued',
  reason: null,
  detail: null,
  since: '2026-01-31T12:00:00.000Z',
  labels: { team: 'vision' },
  createdAt: '2026-01-31T12:00:00.000Z',
  startedAt: null,
  endedAt: null,
} as const

const summary = {
  id: z.string().meta({ examples: [EXAMPLE_JOB_ID] }),
  name: z.string(),
  scheduler: z.string(),
  state: jobState,
  reason,
  detail,
  since: time.meta({ description: 'When it came into that state.' }),
  labels,
  createdAt: time,
  startedAt: time.nullable().meta({ description: 'When its first replica began to run.' }),
  endedAt: time.nullable(),
}

export const jobSummary = z
  .object(summary)
  .meta({ id: 'JobSummary', description: 'A job in a list: without spec and attempts.', examples: [EXAMPLE] })

export const job = z
  .object({
    ...summary,
    spec: jobSpec,
    definition: z
      .object({ name: z.string(), version: z.int() })
      .meta({ id: 'DefinitionReference', description: 'The version of the job definition that it was made from.' })
      .nullable(),
    retryOf: z.string().nullable().meta({ description: 'Id of the ended job that it does again.' }),
    attempts: z.array(attempt),
  })
  .meta({
    id: 'Job',
    description: 'One submission: what was asked for, where it stands, and what happened.',
    examples: [
      {
        ...EXAMPLE,
        spec: EXAMPLE_SPEC,
        definition: null,
        retryOf: null,
        attempts: [
          {
            number: 1,
            state: 'queued',
            reason: null,
            detail: null,
            roles: [{ name: 'trainer', replicas: [] }],
            mounts: [EXAMPLE_RESOLUTION],
            startedAt: null,
            endedAt: null,
          },
        ],
      },
    ],
  })

export const jobPage = pageOf(jobSummary, 'JobPage', 'Jobs, the newest first.')

export const jobPreview = z
  .object({
    spec: jobSpec,
    mounts: z.array(resolution),
    native: z.unknown().meta({ description: 'What the scheduler would be asked, in its own form.' }),
  })
  .meta({ id: 'JobPreview', description: 'What a job would become. Nothing is stored, and no scheduler is asked.' })
