import { idPattern } from '../domain/id.ts'
import { Problem } from '../domain/problem.ts'

const JOB_ID = idPattern('job')

/** An id that can be one of a job. @throws Problem `not_found`: what is no id names no job */
export function jobId(text: string): string {
  if (!JOB_ID.test(text)) throw new Problem('not_found', `There is no job \`${text}\`.`)
  return text
}
