import { describe, expectTypeOf, it } from 'vitest'
import type { z } from 'zod'
import type { JobEvent, JobPreview, JobSummary, JobView, Page, SchedulerView } from '../../../src/domain/job-view.ts'
import type { LogLine } from '../../../src/routes/log-lines.ts'
import type { definitionVersion, jobDefinition, jobDefinitionSummary } from '../../../src/routes/schemas/job-definition.ts'
import type { jobEvent } from '../../../src/routes/schemas/job-event.ts'
import type { job, jobPage, jobPreview, jobSummary } from '../../../src/routes/schemas/job.ts'
import type { logLine } from '../../../src/routes/schemas/log-line.ts'
import type { scheduler } from '../../../src/routes/schemas/scheduler.ts'
import type { DefinitionSummary, DefinitionVersionView, DefinitionView } from '../../../src/services/definitions/definitions.ts'

/** What a schema describes, with everything read-only, as the views are. */
type Described<S extends z.ZodType> = ReadOnly<z.infer<S>>
type ReadOnly<T> = T extends object ? { readonly [K in keyof T]: ReadOnly<T[K]> } : T

describe('schemas of answers', () => {
  // Held by the compiler: `npm run check` fails where a view and its schema part.
  it('describe exactly what the services give', () => {
    expectTypeOf<Described<typeof job>>().toEqualTypeOf<ReadOnly<JobView>>()
    expectTypeOf<Described<typeof jobSummary>>().toEqualTypeOf<ReadOnly<JobSummary>>()
    expectTypeOf<Described<typeof jobPage>>().toEqualTypeOf<ReadOnly<Page<JobSummary>>>()
    expectTypeOf<Described<typeof jobPreview>>().toEqualTypeOf<ReadOnly<JobPreview>>()
    expectTypeOf<Described<typeof jobEvent>>().toEqualTypeOf<ReadOnly<JobEvent>>()
    expectTypeOf<Described<typeof scheduler>>().toEqualTypeOf<ReadOnly<SchedulerView>>()
    expectTypeOf<Described<typeof jobDefinition>>().toEqualTypeOf<ReadOnly<DefinitionView>>()
    expectTypeOf<Described<typeof jobDefinitionSummary>>().toEqualTypeOf<ReadOnly<DefinitionSummary>>()
    expectTypeOf<Described<typeof definitionVersion>>().toEqualTypeOf<ReadOnly<DefinitionVersionView>>()
    expectTypeOf<ReadOnly<LogLine>>().toExtend<Described<typeof logLine>>()
  })
})
