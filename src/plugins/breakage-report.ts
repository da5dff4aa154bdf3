import type { FastifyRequest } from 'fastify'
import type { ProblemBody } from './problem-body.ts'
import { toProblemBody } from './problem-body.ts'
import { problemFromError } from './problem-from-error.ts'

/** How a stream whose head is already sent tells that it broke: logs the error, and gives the problem to send. */
export const breakageReport =
  (request: FastifyRequest) =>
  (error: unknown): ProblemBody => {
    const problem = problemFromError(error)
    request.log.error({ err: error, code: problem.code }, 'a stream broke')
    return toProblemBody(problem, { requestId: request.id, instance: request.url.split('?', 1)[0] ?? request.url })
  }
