import type { FastifyRequest } from 'fastify'
import { Problem } from '../domain/problem.ts'

/** What `Last-Event-ID` says, or null. @throws Problem `malformed_request` when `Last-Event-ID` is not one that we gave */
export function lastSequence({ headers }: Pick<FastifyRequest, 'headers'>): number | null {
  const id = headers['last-event-id']
  if (id === undefined || id === '') return null
  if (typeof id !== 'string' || !/^\d{1,9}$/.test(id))
    throw new Problem('malformed_request', 'Last-Event-ID must be the sequence number of an event.')
  return Number(id)
}
