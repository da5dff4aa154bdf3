import { z } from 'zod'
import type { Parsed } from './fault.ts'
import { JobBody } from './job-body.ts'
import { labelsBody } from './labels-body.ts'
import { parseBody } from './parse-body.ts'
import { nameText } from './names-on-the-wire.ts'

/** A submission of a job definition. */
export const DefinitionSubmission = z
  .strictObject({
    definition: nameText().meta({ description: 'Name of the job definition.', examples: ['train'] }),
    version: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'Which version of it; the newest if it is left out.', examples: [3] }),
    name: nameText().optional().meta({ description: "Name of the job; the definition's own if it is left out." }),
    labels: labelsBody().optional(),
  })
  .meta({
    id: 'DefinitionSubmission',
    description: 'Submits a job definition. Labels are added to those of the definition and win over them.',
    examples: [{ definition: 'train', version: 3, labels: { team: 'vision' } }],
  })
export type DefinitionSubmission = z.infer<typeof DefinitionSubmission>

/** The body of `POST /v1/jobs`: a whole job, or a job definition by name. For the document; read it by `parseJobRequest`. */
export const JobRequest = z.union([JobBody, DefinitionSubmission]).meta({
  id: 'JobRequest',
  description: 'A whole job, or (when `definition` is there) a job definition by name.',
})
export type JobRequest = JobBody | DefinitionSubmission

/** Reads a submission: with a field `definition` it names a job definition, else it is a whole job. All faults at once. */
export function parseJobRequest(body: unknown): Parsed<JobRequest> {
  return isObject(body) && Object.hasOwn(body, 'definition') ? parseBody(DefinitionSubmission, body) : parseJobBody(body)
}

/** Reads a whole job, such as what a job definition holds. All faults at once. */
export const parseJobBody = (body: unknown): Parsed<JobBody> => parseBody(JobBody, body)

/** The job that submitting a definition makes. `definition` is the body that its version holds. */
export function jobOfDefinition(definition: JobBody, submission: DefinitionSubmission): JobBody {
  return {
    ...definition,
    name: submission.name ?? definition.name ?? submission.definition,
    labels: { ...definition.labels, ...submission.labels },
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)
