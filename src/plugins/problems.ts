import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '../domain/problem.ts'
import { methodsAt, type AddressBook } from './address-book.ts'
import { PROBLEM_MEDIA_TYPE, toProblemBody } from './problem-body.ts'
import { problemFromError } from './problem-from-error.ts'

export interface ProblemsOptions {
  /** What lives where, to tell an unknown address from a method that it does not take. */
  readonly addresses: AddressBook
}

/** Makes a problem of whatever is thrown and of every address that nothing lives at. Nothing of a 5xx leaks but its request id. */
export const problems = fp<ProblemsOptions>(
  async (app, { addresses }) => {
    app.setErrorHandler((error, request, reply) => sendProblem(problemFromError(error), request, reply))
    app.setNotFoundHandler((request, reply) => {
      const methods = methodsAt(addresses, pathOf(request.url))
      if (methods.length === 0) throw new Problem('not_found', 'Nothing lives at this address; /docs lists what does.')
      void reply.header('allow', [...methods, 'OPTIONS'].join(', '))
      if (request.method === 'OPTIONS') return reply.code(204).send()
      throw new Problem('method_not_allowed', `This address takes ${methods.join(', ')}.`)
    })
  },
  { name: 'problems' },
)

/** Answers with a problem, and logs its cause when the fault is ours. */
export function sendProblem(problem: Problem, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (problem.status >= 500) request.log.error({ err: problem.cause ?? problem, code: problem.code }, problem.message)
  else request.log.info({ code: problem.code }, problem.message)
  if (problem.retryAfterSeconds !== undefined) void reply.header('retry-after', String(problem.retryAfterSeconds))
  // A connection that is closed over a body that nobody has read loses the answer too: the rest is read and dropped
  // instead, for as long as a request may take.
  void reply.removeHeader('connection')
  const body = toProblemBody(problem, { requestId: request.id, instance: pathOf(request.url) })
  return (
    reply
      .code(problem.status)
      // Said here again for what Fastify refuses before any hook.
      .header('x-request-id', request.id)
      .header('cache-control', 'no-store')
      .type(PROBLEM_MEDIA_TYPE)
      .serializer((value: unknown) => JSON.stringify(value))
      .send(body)
  )
}

const pathOf = (url: string): string => url.split('?', 1)[0] ?? url
