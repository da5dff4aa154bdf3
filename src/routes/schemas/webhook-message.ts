import { z } from 'zod'
import { EXAMPLE_JOB_ID, jobState } from './job.ts'
import { time } from './time.ts'

const head = (type: string, example: string) => ({
  type: z.string().meta({ description: `Type of the event: ${type}.`, examples: [example] }),
  timestamp: time.meta({ description: 'When it was; the header `webhook-timestamp` says when it was sent.' }),
})

const sequence = z
  .int()
  .meta({ description: 'Of the event among those of its subject, from 1, without gaps: for order, and to see what is missing.' })

/** What a webhook is told of a job. */
export const jobMessage = z
  .object({
    ...head('`job.` and a state, or `job.progress`', 'job.succeeded'),
    data: z
      .object({
        jobId: z.string(),
        name: z.string(),
        scheduler: z.string(),
        labels: z.record(z.string(), z.string()),
        sequence,
        attempt: z.int(),
        state: jobState,
        reason: z.string().nullable(),
        detail: z.string().nullable(),
        figures: z.object({ bytes: z.int(), files: z.int(), totalBytes: z.int() }).nullable(),
      })
      .meta({ id: 'JobMessageData', description: 'The job as it was with this event.' }),
  })
  .meta({
    id: 'JobMessage',
    description: 'A job has changed.',
    examples: [
      {
        type: 'job.succeeded',
        timestamp: '2026-01-31T12:00:00.000Z',
        data: {
          jobId: EXAMPLE_JOB_ID,
          name: 'train',
          scheduler: 'docker',
          labels: { team: 'vision' },
          sequence: 6,
          attempt: 1,
          state: 'succeeded',
          reason: null,
          detail: null,
          figures: null,
        },
      },
    ],
  })

/** What a webhook is told of a drive. */
export const driveMessage = z
  .object({
    ...head('`drive.object_created`, `drive.object_deleted` or `drive.objects_committed`', 'drive.objects_committed'),
    data: z
      .looseObject({ driveId: z.string(), drive: z.string().meta({ description: 'Its name.' }), sequence })
      .meta({ id: 'DriveMessageData', description: 'The event, as the events of the drive have it.' }),
  })
  .meta({
    id: 'DriveMessage',
    description: 'The objects of a drive have changed.',
    examples: [
      {
        type: 'drive.objects_committed',
        timestamp: '2026-01-31T12:00:00.000Z',
        data: { driveId: 'drv_01h455vb4pex5vsknk084sn02q', drive: 'models', sequence: 3, count: 1, bytes: 4096, keys: ['model.pt'] },
      },
    ],
  })

/** What a webhook is told of webhooks. */
export const webhookMessage = z
  .object({
    ...head('`webhook.disabled` or `webhook.test`', 'webhook.disabled'),
    data: z
      .looseObject({ webhookId: z.string(), webhook: z.string().meta({ description: 'Its name.' }), sequence })
      .meta({ id: 'WebhookMessageData', description: 'Which webhook, and for `webhook.disabled` the `reason`.' }),
  })
  .meta({
    id: 'WebhookMessage',
    description: 'A webhook was given up, or is tried out.',
    examples: [
      {
        type: 'webhook.disabled',
        timestamp: '2026-01-31T12:00:00.000Z',
        data: { webhookId: 'whk_01h455vb4pex5vsknk084sn02q', webhook: 'ci', sequence: 7, reason: 'failing' },
      },
    ],
  })
