import type { IncomingMessage } from 'node:http'
import fp from 'fastify-plugin'
import { newId } from '../domain/id.ts'

const ACCEPTED = /^[A-Za-z0-9._-]{1,64}$/

/** The client's own `X-Request-Id` when it is harmless in a log and a header, else a new one. */
export function requestIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && ACCEPTED.test(given) ? given : newId('req')
}

/** Says the request's id on every answer. */
export const requestId = fp(
  async (app) => {
    app.addHook('onRequest', (request, reply, done) => {
      void reply.header('x-request-id', request.id)
      done()
    })
  },
  { name: 'request-id' },
)
