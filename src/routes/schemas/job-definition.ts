import { z } from 'zod'
import { JobBody } from '../../domain/job-body.ts'
import { nameText } from '../../domain/names-on-the-wire.ts'
import { pageOf } from './page.ts'
import { time } from './time.ts'

export const newJobDefinition = z
  .strictObject({ name: nameText().meta({ description: 'Unique in the project.', examples: ['train'] }), job: JobBody })
  .meta({
    id: 'NewJobDefinition',
    description: 'A job definition to be made, with its first version.',
    examples: [{ name: 'train', job: { scheduler: 'local', roles: [{ command: ['echo', 'hello'] }] } }],
  })

export const newDefinitionVersion = z.strictObject({ job: JobBody }).meta({
  id: 'NewDefinitionVersion',
  description: 'The next version of a job definition.',
  examples: [{ job: { scheduler: 'local', roles: [{ command: ['echo', 'hello again'] }] } }],
})

const summary = {
  name: z.string(),
  version: z.int().meta({ description: 'The newest version.' }),
  createdAt: time,
  updatedAt: time,
  retiredAt: time.nullable().meta({ description: 'When it was retired: it can be read, but not submitted. A new version brings it back.' }),
}

export const jobDefinitionSummary = z.object(summary).meta({ id: 'JobDefinitionSummary', description: 'A job definition in a list.' })

export const jobDefinition = z
  .object({ ...summary, job: JobBody })
  .meta({ id: 'JobDefinition', description: 'A named, versioned body of a job, with its newest version.' })

export const definitionVersion = z
  .object({ name: z.string(), version: z.int(), job: JobBody, createdAt: time })
  .meta({ id: 'DefinitionVersion', description: 'One version of a job definition. Never changes.' })

export const definitionPage = pageOf(jobDefinitionSummary, 'JobDefinitionPage', 'Job definitions that are not retired, by name.')
export const versionPage = pageOf(definitionVersion, 'DefinitionVersionPage', 'Versions, the newest first.')
