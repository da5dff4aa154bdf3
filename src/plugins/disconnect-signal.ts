import type { FastifyReply } from 'fastify'

/** Aborted when the client is gone before it was answered. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const aborter = new AbortController()
  raw.once('close', () => {
    if (!raw.writableFinished) aborter.abort()
  })
  return aborter.signal
}
