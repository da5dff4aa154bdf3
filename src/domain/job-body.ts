import { z } from 'zod'
import { labelsBody } from './labels-body.ts'
import { ON_REPLICA_FAILURE } from './job-spec.ts'
import { flaws, type PlacedFlaw } from './parse-body.ts'
import { REQUEST_LIMITS } from './request-limits.ts'
import { nameText } from './names-on-the-wire.ts'
import { RoleBody } from './role-body.ts'

/** When a failed attempt is tried again, as a client writes it. */
export const RetriesBody = z
  .strictObject({
    max: z
      .int()
      .min(0)
      .max(REQUEST_LIMITS.retries)
      .optional()
      .meta({ description: 'Further attempts after the first; 0 if it is left out.', examples: [2] }),
    backoffSeconds: z
      .number()
      .min(0)
      .max(REQUEST_LIMITS.backoffSeconds)
      .optional()
      .meta({
        description: 'Wait before the second attempt, doubled for each further one, up to 10 minutes; 10 if it is left out.',
        examples: [10],
      }),
  })
  .meta({ id: 'RetriesBody', description: 'When a failed attempt is tried again.' })

/** A whole job as a client writes it: what is submitted, and what a job definition holds. */
export const JobBody = z
  .strictObject({
    name: nameText()
      .optional()
      .meta({ description: 'Name for people, not unique; `job` if it is left out.', examples: ['train'] }),
    scheduler: nameText().meta({ description: 'Name of a configured scheduler: see `GET /v1/schedulers`.', examples: ['docker'] }),
    labels: labelsBody().optional(),
    timeoutSeconds: z
      .int()
      .min(1)
      .max(REQUEST_LIMITS.timeoutSeconds)
      .nullish()
      .meta({
        description: 'Longest time of one attempt, from its first running replica on; no limit if it is left out.',
        examples: [3600],
      }),
    queueTimeoutSeconds: z
      .int()
      .min(1)
      .max(REQUEST_LIMITS.timeoutSeconds)
      .nullish()
      .meta({
        description: 'Longest time from when an attempt is queued until its first replica runs; no limit if it is left out.',
        examples: [600],
      }),
    graceSeconds: z
      .int()
      .min(0)
      .max(REQUEST_LIMITS.graceSeconds)
      .optional()
      .meta({
        description: 'Time between the polite signal and the kill when replicas are ended; 10 if it is left out.',
        examples: [10],
      }),
    retries: RetriesBody.optional(),
    onReplicaFailure: z.enum(ON_REPLICA_FAILURE).optional().meta({
      description:
        '`cancel_others` (taken if it is left out): the first failed replica ends the others. `wait`: they go on to their own end.',
    }),
    webhooks: z
      .array(nameText())
      .max(REQUEST_LIMITS.webhooks)
      .optional()
      .meta({ description: 'Names of webhooks that are told of this job, whatever their scope and selector say.', examples: [['ci']] }),
    roles: z
      .array(RoleBody)
      .min(1)
      .max(REQUEST_LIMITS.roles)
      .superRefine(flaws(roleNameFlaws))
      .meta({ description: 'Groups of identical replicas that run together.' }),
  })
  .meta({
    id: 'JobBody',
    description: 'A job. Only `scheduler`, one role and its command are needed, and an image where the kind of scheduler has images.',
    examples: [{ scheduler: 'local', roles: [{ command: ['echo', 'hello'] }] }],
  })
export type JobBody = z.infer<typeof JobBody>

function roleNameFlaws(roles: readonly RoleBody[]): PlacedFlaw[] {
  return roles.flatMap(({ name }, index) => {
    const path = [index, 'name']
    if (name === undefined) {
      return roles.length === 1 ? [] : [{ path, code: 'missing_field', detail: 'is missing: with several roles each needs a name' }]
    }
    const before = roles.findIndex((other) => other.name === name)
    const detail = `"${name}" is the name of role ${before} already: names of roles differ`
    return before === index ? [] : [{ path, code: 'duplicate_name', detail }]
  })
}
